"""Values that some layer below cannot hold: refused in words, on both databases, and never kept by half."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import re
import tarfile
import threading
import time

import pytest

from app.accounts.routes import _own_path
from app.errors import Conflict, Invalid, NotPermitted, TooLarge
from app.kit import source, strict_json
from app.kit.trees import TreeLimits, check_tree, joined, read_archive
from app.reviews import queries as review_queries
from app.reviews import service as reviews
from app.rubrics import content as rubric_content
from app.submissions import queries, service, sources
from app.submissions.service import NewSubmission
from tests import factories

LIMITS = TreeLimits(bytes_max=1 << 20, files_max=5)
SOURCE = {"solution.py": b"import triton\n"}


@pytest.fixture
def author(each_database, each_settings):
    with each_database.write() as session:
        factories.make_task(session, each_settings)
        return factories.make_viewer(session)


class TestWhatNoDatabaseKeeps:
    @pytest.mark.parametrize(
        "field",
        [
            {"title": "half \ud800"},
            {"explanation": "half \udfff"},
            {"model": {"name": "half \ud800"}},
            {"model": {"name": "nul \0"}},
            {"model": {"half \ud800": 1}},
            {"model": {"temperature": float("nan")}},
            {"task": "half \ud800"},
            {"task_version": 10**30},
        ],
        ids=str,
    )
    def test_is_said_and_nothing_is_kept(self, each_database, each_settings, author, field):
        new = NewSubmission(**({"files": SOURCE, "task": "row-softmax"} | field))
        # A version that no column holds is no fault of the sender's on PostgreSQL: it is just not there.
        with pytest.raises(Exception, match=r"cannot be kept|there is no version"), each_database.write() as session:
            service.submit(session, each_settings, author, new)

        with each_database.read() as session:
            assert queries.list_all(session).items == []

    def test_a_report_is_kept_with_marks_in_their_place(self, each_database, each_settings):
        report = factories.make_report(headline="printed \0 and \ud800, and \\u0000 as source")
        with each_database.write() as session:
            _, evaluation, _ = factories.make_evaluated(session, each_settings, report=report)

        assert evaluation.report["headline"] == "printed \u2400 and ?, and \\u0000 as source"

    def test_an_escape_in_a_text_is_only_text(self):
        value = {"source": 'x = "\\u0000"', "deep": "\\\\u0000"}
        assert json.loads(strict_json.dump(value)) == value and strict_json.scrubbed(value) is value


class TestStrictJson:
    @pytest.mark.parametrize(
        "text",
        [b"{", b'{"a": NaN}', b'{"a": 1e999}', b'{"a": 1, "a": 2}', b'"\\ud800"', b'"\\u0000"', b"\xff",
         b"[" * 100_000, b"[" * 900 + b"]" * 900, b"9" * 5_000],
        ids=lambda text: text[:20],
    )  # fmt: skip
    def test_refuses(self, text):
        with pytest.raises(Invalid):
            strict_json.read(text, "the body")

    def test_names_the_key_that_is_there_twice(self):
        with pytest.raises(Invalid, match=r"'s\.py' is there twice"):
            strict_json.read(b'{"files": {"s.py": "a", "s.py": "b"}}', "the body")


class TestTrees:
    @pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
    @pytest.mark.parametrize("kind", [tarfile.REGTYPE, tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE])
    def test_a_tar_that_grows_is_never_unpacked_whole(self, pack, kind):
        """Neither as a file that would be left out, nor as a header that tarfile reads into memory."""
        info = tarfile.TarInfo("__pycache__/x")
        info.size, info.type = 64 << 20, kind
        with pytest.raises(TooLarge):
            read_archive(pack(info.tobuf() + b"\0" * info.size), LIMITS)

    @pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress, lzma.compress])
    def test_each_kind_of_tar_is_read(self, pack):
        buffer = io.BytesIO()
        with tarfile.open(fileobj=buffer, mode="w") as archive:
            info = tarfile.TarInfo("a/solution.py")
            info.size = 3
            archive.addfile(info, io.BytesIO(b"abc"))
        assert read_archive(pack(buffer.getvalue()), LIMITS) == {"solution.py": b"abc"}

    def test_a_name_that_no_file_system_holds(self):
        with pytest.raises(Invalid, match="is refused"):
            check_tree({"\U0001f600" * 100 + ".py": b"x"}, LIMITS)

    def test_neither_of_two_uploads_hides_the_other(self):
        with pytest.raises(Invalid, match=r"`a\.py` is there twice"):
            joined({"a.py": b"1"}, {"a.py": b"2"})

    def test_claims_that_were_sent_beside_a_folder_of_that_name(self, database, settings):
        with database.write() as session:
            factories.make_task(session, settings)
            author = factories.make_viewer(session)
            new = NewSubmission(files={"claims.json/s.py": b"import triton"}, task="row-softmax", claims=[1])
            with pytest.raises(Invalid, match="is a file and a folder"):
                service.submit(session, settings, author, new)

    def test_an_empty_source_and_an_empty_module_beside_one(self):
        with pytest.raises(Invalid, match="is empty"):
            sources.check_sources({"solution.py": b" \n"}, file_bytes_max=100)
        sources.check_sources({"__init__.py": b"", "solution.py": b"x"}, file_bytes_max=100)


class TestTimeIsBounded:
    @pytest.mark.parametrize("line", [b"\n", b" ", b".version 1.0\n", b"import\n", b"jax.experimental\n"])
    def test_guessing_a_framework_reads_the_source_once(self, line):
        began = time.perf_counter()
        sources.guess_framework({"s.py": line * (1_000_000 // len(line))}, ["torch"])
        assert time.perf_counter() - began < 5  # it took minutes, and every other request waited for it

    def test_a_page_shows_and_colours_only_so_much(self):
        files = [("long.py", "\n" * 5_000_000), ("wide.py", "(" * 5_000_000), ("small.py", "x = 1\n")]
        long, wide, small = source.coloured_all(files)

        assert len(long.lines) <= source.SHOWN_LINES_MAX + 1 and "cut here" in long.lines[-1].html
        assert sum(len(line.html) for line in wide.lines) < 1_100_000
        assert "cut here" in small.lines[-1].html, "the page is full"

    def test_what_is_not_coloured_is_escaped(self):
        text = "<script>\n" * 20_000
        assert "<" not in source.coloured_all([("a.py", text)])[0].lines[0].html


class TestAddresses:
    @pytest.mark.parametrize(
        "path",
        ["//evil.example", "//[", "/\\evil.example", "https://evil.example", "/\t/evil.example", "", "x",
         "javascript:alert(1)", "/\n/evil.example"],
    )  # fmt: skip
    def test_only_our_own_are_gone_back_to(self, path):
        assert _own_path(path) == "/"

    def test_our_own_are(self):
        assert _own_path("/reviews/rev_1?x=1#y") == "/reviews/rev_1?x=1#y"


class TestRubricText:
    @pytest.mark.parametrize("text", ["a: 2026-99-99", "[" * 5_000, "", "- 1", "a: \x01"])
    def test_is_refused_in_words(self, text):
        with pytest.raises(Invalid):
            rubric_content.read_yaml(text)


class TestTaskBundles:
    @pytest.mark.parametrize(
        "toml", [b"a = " + b"[" * 20_000, b"\xff\xfe", b"schema = ", b"a = nan"], ids=lambda t: t[:9]
    )
    def test_a_bundle_that_cannot_be_read_says_so(self, database, settings, toml):
        from app.tasks import service as tasks

        tree = factories.task_tree() | {"task.toml": toml}
        with pytest.raises(Invalid, match="task bundle"), database.write() as session:
            tasks.upload(session, settings, tree, actor_id=None)


class TestDrafts:
    @pytest.fixture
    def draft(self, each_database, each_settings):
        from app.assignments.queue import claim_next
        from app.rubrics import service as rubrics

        with each_database.write() as session:
            rubrics.seed(session)
            factories.make_evaluated(session, each_settings)
            viewer = factories.make_reviewer(session)
            claim = claim_next(session, each_settings, viewer)
            return viewer, reviews.open_review(session, viewer, claim.slot).public_id

    @pytest.mark.parametrize(
        "content",
        [{"scores": "x"}, {"scores": {"correct": 1}}, {"scores": {"correct": {"evidence": 1}}}, {"comments": [1]},
         {"feedback": {"a": 1}}, {"feedback": "\ud800"}, {"extra": "\0"}, {"feedback": "x" * 2_000_000}],
        ids=lambda content: str(content)[:30],
    )  # fmt: skip
    def test_what_could_not_be_opened_again_is_not_kept(self, each_database, draft, content):
        viewer, public_id = draft
        with pytest.raises((Invalid, TooLarge)), each_database.write() as session:
            review = review_queries.find(session, public_id)
            reviews.save_draft(session, viewer, review, content, base_version=0)

    def test_two_submits_at_once_are_one(self, each_database, each_settings, draft):
        viewer, public_id = draft
        start, ends = threading.Barrier(4), []

        def send():
            start.wait()
            try:
                with each_database.write() as session:
                    review = review_queries.find(session, public_id)
                    done = reviews.submit_review(session, each_settings, viewer, review, factories.full_content())
                    ends.append(done.is_extra)
            except Conflict:
                ends.append("refused")

        threads = [threading.Thread(target=send) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sorted(map(str, ends)) == ["False", "refused", "refused", "refused"]


def test_messages_repeat_only_so_much(settings, database):
    with database.write() as session:
        factories.make_task(session, settings)
        author = factories.make_viewer(session)
        with pytest.raises(Invalid) as caught:
            service.submit(session, settings, author, NewSubmission(SOURCE, "row-softmax", framework="x" * 1_000_000))
    assert len(caught.value.message) < 1_000


def test_one_evaluation_of_a_submission_at_a_time(database, settings):
    with database.write() as session:
        author = factories.make_viewer(session)
        submission = factories.make_submission(session, settings, author=author)
        with pytest.raises(Conflict, match="under way"):
            service.evaluate_again(session, author, submission)


def test_the_errors_of_integrity_are_not_called_hints():
    from app.assignments.policy import priority_of
    from app.domain.report import Finding, Severity

    def why(severity):
        finding = Finding("integrity.cached_result", severity, "correctness", "it remembers")
        return priority_of(factories.make_report(findings=(finding,))).why

    assert re.search("confirm or clear", why(Severity.ERROR))
    assert re.search("proves nothing by itself", why(Severity.WARNING))


def test_nobody_judges_what_is_too_close_to_them(database, settings):
    from app.assignments import service as assignments
    from app.domain.review import Decision, Role, SkipKind

    with database.write() as session:
        author = factories.make_viewer(session, team="kernels")
        mate = factories.make_viewer(session, Role.ADJUDICATOR, team="kernels")
        _, _, slots = factories.make_evaluated(session, settings, author=author)
        with pytest.raises(NotPermitted):
            reviews.decide(
                session, mate, slots[0].subject_id, decision=Decision.ACCEPT, confidence=3, reason="they are my friends"
            )
        with pytest.raises(NotPermitted):
            assignments.skip_slot(session, mate, slots[0], SkipKind.BROKEN_ITEM, "nobody shall see it")

"""Pages travel compressed, streams and small answers as they are, and no secret of a page stays the same."""

from __future__ import annotations

import re


def token_of(page):
    return re.search(r'name="csrf_token" value="([^"]+)"', page.text).group(1)


def test_a_long_page_is_compressed_and_reads_the_same(house):
    client = house.browser("rob").client
    packed = client.get("/catalogue")
    plain = client.get("/catalogue", headers={"Accept-Encoding": "identity"})
    assert packed.headers["Content-Encoding"] == "gzip" and "Content-Encoding" not in plain.headers
    assert int(packed.headers["Content-Length"]) * 3 < len(plain.content)
    without = [re.sub(r"[0-9a-f]{16}\.[0-9a-f]{64}", "", page.text) for page in (packed, plain)]
    assert without[0] == without[1]


def test_every_page_has_another_token_and_all_of_them_hold(house):
    client = house.browser("rob").client
    first, second = (token_of(client.get("/account")) for _ in range(2))
    assert first != second
    for token in (first, second):
        assert client.post("/queue/next", data={"csrf_token": token}).status_code != 403


def test_a_token_of_somebody_else_is_refused(house):
    others = token_of(house.browser("sue").client.get("/account"))
    answer = house.browser("rob").client.post("/queue/next", data={"csrf_token": others})
    assert answer.status_code == 403

"""Honest samplers pass, wrong ones are refused, and too few draws are the task's fault."""

import numpy as np
import pytest

from workbench_checks import drawn_from, follows, normal, sampling, uniform

ROWS, DRAWS, CATEGORIES = 6, 400, 50


@pytest.fixture
def random():
    return np.random.default_rng(7)


@pytest.fixture
def weights(random):
    return random.dirichlet(np.full(CATEGORIES, 0.5), size=ROWS)


def draw(random, weights, draws=DRAWS):
    return np.stack([random.choice(len(row), draws, p=row) for row in weights])


class TestDrawnFrom:
    def test_takes_an_honest_sampler(self, random, weights):
        ok, message = drawn_from(draw(random, weights), weights)
        assert ok
        assert message.startswith("2400 draws; a distance of 0.1")

    def test_takes_one_draw_a_row(self, random):
        weights = random.dirichlet(np.full(CATEGORIES, 0.5), size=2000)
        assert drawn_from(draw(random, weights, 1)[:, 0], weights)

    def test_weights_need_not_add_up_to_1(self, random, weights):
        assert drawn_from(draw(random, weights), weights * 37)

    @pytest.mark.parametrize("one_a_row", [False, True])
    def test_refuses_the_likeliest_instead_of_a_draw(self, random, weights, one_a_row):
        if one_a_row:
            weights = random.dirichlet(np.full(CATEGORIES, 0.5), size=2000)
            assert not drawn_from(weights.argmax(-1), weights)
        else:
            assert not drawn_from(np.repeat(weights.argmax(-1)[:, None], DRAWS, 1), weights)

    def test_refuses_another_temperature(self, random, weights):
        colder = weights**1.5
        assert not drawn_from(draw(random, colder / colder.sum(-1, keepdims=True)), weights)

    def test_refuses_a_category_beside_the_one_drawn(self, random, weights):
        assert not drawn_from((draw(random, weights) + 1) % CATEGORIES, weights)

    def test_refuses_one_wrong_row_by_its_number(self, random, weights):
        samples = draw(random, weights)
        samples[4] = draw(random, np.full((1, CATEGORIES), 1 / CATEGORIES))[0]
        ok, message = drawn_from(samples, weights)
        assert not ok
        assert message.startswith("row [4] has other frequencies")

    def test_refuses_what_has_no_chance_by_its_index(self, random, weights):
        weights[:, 7] = 0
        weights /= weights.sum(-1, keepdims=True)
        samples = draw(random, weights)
        samples[2, 31] = 7
        assert drawn_from(samples, weights) == (False, "sample [2, 31] is 7, which has no chance")

    def test_refuses_no_index_of_a_category(self, random, weights):
        samples = draw(random, weights)
        samples[1, 3] = CATEGORIES
        assert drawn_from(samples, weights).message == "sample [1, 3] is 50, which is no index from 0 to 49"

    def test_refuses_each_draw_given_twice(self, random):
        weights = np.full((1, 4), 0.25)
        samples = np.repeat(draw(random, weights, 1000), 2, axis=1)
        assert drawn_from(samples, weights).message.startswith("neighbouring draws depend on each other")

    def test_refuses_other_shapes(self, random, weights):
        assert not drawn_from(draw(random, weights)[:3], weights)

    def test_too_few_draws_are_the_tasks_fault(self, random, weights):
        with pytest.raises(ValueError, match=r"12 draws are too few to see a distance of 0.25: \d+ are needed"):
            drawn_from(draw(random, weights, 2), weights)

    @pytest.mark.parametrize("broken", [np.zeros(4), np.array([1, -1, 1, 1]), np.array([1, np.nan, 1, 1])])
    def test_weights_that_are_none_are_the_tasks_fault(self, broken):
        with pytest.raises(ValueError, match="weights have to be"):
            drawn_from(np.zeros(1000, int), broken)

    @pytest.mark.matrix
    def test_refuses_honest_draws_no_more_often_than_stated_in_5000_trials(self, random):
        weights = random.dirichlet(np.full(8, 0.5), size=3)
        rejected, share = 0, 1e-2 / 3
        for _ in range(5_000):
            rows = draw(random, weights, 60)
            each = [sampling._transformed((r, random.random(60)), w) for r, w in zip(rows, weights, strict=True)]
            fits = sampling._rows_fit(rows, weights, share) and sampling._uniform(np.concatenate(each), share)
            rejected += not fits
        assert rejected <= 86  # 50 expected at most, and five deviations


class TestFollows:
    @pytest.mark.parametrize("dtype", [np.float64, np.float32, np.float16])
    @pytest.mark.parametrize("scale", [1e-3, 1.0])
    def test_takes_honest_samples_also_rounded(self, random, dtype, scale):
        samples = (random.standard_normal(1_000_000) * scale).astype(dtype)
        assert follows(samples, normal(0, scale))

    def test_takes_uniform_numbers_on_a_grid(self, random):
        assert follows((random.integers(0, 2**11, 1_000_000) / 2**11).astype(np.float16), uniform())

    @pytest.mark.parametrize(
        "wrong",
        [
            lambda r: r.standard_normal(20_000) * 1.1,
            lambda r: r.standard_normal(20_000) + 0.1,
            lambda r: r.uniform(-2, 2, 20_000),
            lambda r: np.abs(r.standard_normal(20_000)),
            lambda r: np.zeros(20_000),
            lambda r: r.standard_normal(20_000) * 1e9,
        ],
    )
    def test_refuses_another_distribution(self, random, wrong):
        assert not follows(wrong(random), normal())

    def test_refuses_one_block_over_and_over(self, random):
        assert not follows(np.tile(random.standard_normal(256), 1000), normal())

    def test_names_the_first_sample_that_is_no_number(self, random):
        samples = random.standard_normal((100, 100))
        samples[3, 5] = np.inf
        assert follows(samples, normal()) == (False, "sample [3, 5] is inf")

    def test_too_few_samples_are_the_tasks_fault(self, random):
        with pytest.raises(ValueError, match="are needed"):
            follows(random.standard_normal(20), normal())

    def test_as_many_as_asked_for_are_enough(self, random):
        with pytest.raises(ValueError, match="needed") as told:
            follows(random.standard_normal(20), normal(), must_see=0.1)
        needed = int(str(told.value).split()[-3])
        assert follows(random.standard_normal(needed), normal(), must_see=0.1)
        with pytest.raises(ValueError, match="needed"):
            follows(random.standard_normal(needed - 1), normal(), must_see=0.1)

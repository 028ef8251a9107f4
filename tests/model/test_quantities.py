"""Numbers within bounds."""

import math

import pytest

from memtui.model.quantities import MAX_NUMBER, check_number


@pytest.mark.parametrize("value", [7, 7.0, "7", " 7 "])
def test_a_whole_number_may_be_given_as_text(value: object) -> None:
    number = check_number(value, minimum=7, maximum=7)
    assert number == 7 and isinstance(number, int)


@pytest.mark.parametrize(
    "value",
    [0, 51, 7.5, "7.5", "seven", "", "--3", "inf", math.nan, True, None, [7], 10**400],
)
def test_other_values_are_refused_with_the_bounds(value: object) -> None:
    with pytest.raises(ValueError, match=r"^a whole number from 1 to 50$"):
        check_number(value, minimum=1, maximum=50)


@pytest.mark.parametrize("value", [MAX_NUMBER + 1, "9" * 30, math.inf])
def test_no_number_loses_digits(value: object) -> None:
    with pytest.raises(ValueError, match=r"^a whole number$"):
        check_number(value)


def test_other_numbers_may_have_a_fraction() -> None:
    assert check_number("0.5", is_whole=False, minimum=0) == 0.5
    with pytest.raises(ValueError, match=r"^a number from 0\.01$"):
        check_number(0, is_whole=False, minimum=0.01)

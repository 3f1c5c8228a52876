"""What happens here that others may want to be told of, by webhook."""

from __future__ import annotations

from enum import StrEnum


class Event(StrEnum):
    """The type of a message.  It names rows and says nothing of what is in them."""

    SUBMISSION_EVALUATED = "submission.evaluated"
    EVALUATION_FAILED = "evaluation.failed"
    REVIEW_SUBMITTED = "review.submitted"
    SUBJECT_COMPLETED = "subject.completed"
    SUBJECT_DECIDED = "subject.decided"
    IMPORT_FINISHED = "import.finished"
    EXPORT_FINISHED = "export.finished"
    TEST = "webhook.test"


MEANINGS: dict[Event, str] = {
    Event.SUBMISSION_EVALUATED: "an evaluation has ended with a verdict",
    Event.EVALUATION_FAILED: "an evaluation was given up: our own fault, no verdict",
    Event.REVIEW_SUBMITTED: "a review is in, or a correction of one",
    Event.SUBJECT_COMPLETED: "all the reviews that were wanted of an item are in",
    Event.SUBJECT_DECIDED: "an adjudicator has decided on an item",
    Event.IMPORT_FINISHED: "each row of a bulk upload has its result",
    Event.EXPORT_FINISHED: "an export can be fetched",
}

"""The rows.  Importing this package registers every table, which migrations and tests rely on."""

from app.models.account import ApiToken, Conflict, SignInFailure, User, UserSession
from app.models.base import Base, new_public_id, utc_now
from app.models.evaluation import Evaluation, EvaluationEvent
from app.models.experiment import Experiment
from app.models.record import AuditEntry, Export, IdempotencyKey, Lease
from app.models.review import Contest, OwnSnippet, Review, ReviewDraft, ReviewMember, SubjectDecision
from app.models.rubric import Rubric, RubricMove, RubricVersion, Ruling, RulingAcknowledgement
from app.models.subject import SHUFFLE_BITS, ComparisonMember, ReviewSlot, ReviewSubject, SavedView, Skip, SubjectAuthor
from app.models.submission import Submission
from app.models.submission_import import Import, ImportRow
from app.models.task import Task, TaskVersion
from app.models.webhook import WebhookDelivery, WebhookEndpoint

__all__ = [
    "SHUFFLE_BITS", "ApiToken", "AuditEntry", "Base", "ComparisonMember", "Conflict", "Contest", "Evaluation",
    "EvaluationEvent", "Experiment", "Export", "IdempotencyKey", "Import", "ImportRow", "Lease", "OwnSnippet",
    "Review", "ReviewDraft", "ReviewMember", "ReviewSlot", "ReviewSubject", "Rubric", "RubricMove", "RubricVersion",
    "Ruling", "RulingAcknowledgement", "SavedView", "SignInFailure", "Skip", "SubjectAuthor", "SubjectDecision",
    "Submission", "Task", "TaskVersion", "User", "UserSession", "WebhookDelivery", "WebhookEndpoint",
    "new_public_id", "utc_now",
]  # fmt: skip

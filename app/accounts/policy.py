"""Who somebody is and what they may do: pure predicates, no database."""

from __future__ import annotations

from dataclasses import dataclass

from app.domain.review import Role
from app.errors import NotPermitted
from app.models import User

SCOPES = ("read", "submit", "review", "export", "webhooks", "admin")

# What a role may ask for in a token; an admin may ask for all.
_SCOPES_OF_ROLE = {
    Role.SUBMITTER: frozenset({"read", "submit"}),
    Role.REVIEWER: frozenset({"read", "review"}),
    Role.ADJUDICATOR: frozenset({"read", "review", "export"}),
    Role.ADMIN: frozenset(SCOPES),
}


@dataclass(frozen=True)
class Viewer:
    """The person behind a request, detached from any session.  `scopes` is None for a browser."""

    id: int
    public_id: str
    login: str
    name: str
    pseudonym: str
    roles: frozenset[Role]
    team: str = ""
    is_paused: bool = False
    scopes: frozenset[str] | None = None

    def has(self, *roles: Role) -> bool:
        """Whether they hold one of `roles`; an admin holds them all."""
        return Role.ADMIN in self.roles or not self.roles.isdisjoint(roles)

    @property
    def is_staff(self) -> bool:
        """Adjudicators and admins see behind the blind."""
        return self.has(Role.ADJUDICATOR)


def viewer_of(user: User, scopes: frozenset[str] | None = None) -> Viewer:
    return Viewer(
        id=user.id, public_id=user.public_id, login=user.login, name=user.name, pseudonym=user.pseudonym,
        roles=frozenset(Role(r) for r in user.roles), team=user.team, is_paused=user.is_paused, scopes=scopes,
    )  # fmt: skip


def require_role(viewer: Viewer, *roles: Role) -> None:
    if not viewer.has(*roles):
        wanted = " or ".join(role.value for role in roles)
        raise NotPermitted(f"this needs the role {wanted}", what_to_do="Ask an admin to give you the role.")


def require_scope(viewer: Viewer, scope: str) -> None:
    """A token does only what it was made for; a browser's person does all that their roles allow."""
    if viewer.scopes is not None and scope not in viewer.scopes:
        raise NotPermitted(f"this token lacks the scope `{scope}`", what_to_do="Make a token that has it.")


def scopes_allowed(roles: frozenset[Role]) -> frozenset[str]:
    return frozenset().union(*(_SCOPES_OF_ROLE[role] for role in roles))

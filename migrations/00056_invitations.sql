-- +goose Up
SET LOCAL lock_timeout = '1s';

-- The page for invitations of a platform; empty for none.
ALTER TABLE platforms ADD COLUMN invitation_url text NOT NULL DEFAULT '';

CREATE TABLE invitations (
    platform_id         uuid        NOT NULL, -- of the inviter
    id                  uuid        NOT NULL,
    code                text        NOT NULL,
    url                 text        NOT NULL,
    inviter_id          uuid        NOT NULL,
    inviter_uma         text        NOT NULL,
    first_name          text        NOT NULL, -- of the invited person, encrypted
    amount_minor        bigint      NOT NULL, -- 0: none
    amount_currency     text        NOT NULL,
    status              text        NOT NULL CONSTRAINT invitation_status_known CHECK (status IN ('PENDING', 'CLAIMED', 'CANCELLED')),
    created_at          timestamptz NOT NULL,
    expires_at          timestamptz,
    claimed_at          timestamptz,
    cancelled_at        timestamptz,
    ends_at             timestamptz, -- when it was claimed or cancelled, or expires
    invitee_platform_id uuid,
    invitee_id          uuid,
    invitee_uma         text        NOT NULL DEFAULT '',
    PRIMARY KEY (platform_id, id),
    CONSTRAINT invitation_inviter_fkey FOREIGN KEY (platform_id, inviter_id) REFERENCES customers,
    CONSTRAINT invitation_claimed_by_someone CHECK ((status = 'CLAIMED') = (claimed_at IS NOT NULL AND invitee_id IS NOT NULL AND invitee_platform_id IS NOT NULL))
);
-- A code is looked up by those who do not know the platform, so the index does not begin with it.
CREATE UNIQUE INDEX invitation_code_unique ON invitations (code);
CREATE INDEX invitations_by_inviter ON invitations (platform_id, inviter_id);
-- The invitee may be a customer of another platform, whose data is erased there.
CREATE INDEX invitations_by_invitee ON invitations (invitee_platform_id, invitee_id) WHERE invitee_id IS NOT NULL;
CREATE INDEX invitations_by_end ON invitations (platform_id, ends_at) WHERE ends_at IS NOT NULL;

GRANT SELECT, INSERT, UPDATE, DELETE ON invitations TO causeway_service;
SELECT isolate_platforms('invitations');

-- Returns the invitation with a code, of whatever platform of the same environment as the caller's. It
-- is the only way in which a platform sees a row of another one: it must know the code.
-- +goose StatementBegin
CREATE FUNCTION invitation_by_code(wanted text, caller uuid) RETURNS SETOF invitations STABLE ROWS 1 LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT i.* FROM invitations i JOIN platforms inviter ON inviter.id = i.platform_id JOIN platforms reader ON reader.id = caller
    WHERE i.code = wanted AND inviter.environment = reader.environment AND (caller = visible_platform() OR all_platforms_visible())
$$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION invitation_by_code FROM PUBLIC;
GRANT EXECUTE ON FUNCTION invitation_by_code TO causeway_service;

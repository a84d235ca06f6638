-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- A sandbox platform is closed when it is reset: its successor takes over its tokens and settings. Nothing of it is deleted.
ALTER TABLE platforms ADD COLUMN closed_at timestamptz, ADD COLUMN successor_id uuid;
ALTER TABLE platforms ADD CONSTRAINT platform_closed_with_successor CHECK (
    (closed_at IS NULL) = (successor_id IS NULL) AND (closed_at IS NULL OR environment = 'SANDBOX')) NOT VALID;

-- Until when webhooks that ask for an answer are answered by a listener of a developer, instead of the endpoint.
ALTER TABLE platforms ADD COLUMN listener_until timestamptz;
ALTER TABLE platforms ADD CONSTRAINT platform_listener_of_sandbox CHECK (listener_until IS NULL OR environment = 'SANDBOX') NOT VALID;

-- Invitations of a closed platform cannot be claimed.
-- +goose StatementBegin
CREATE OR REPLACE FUNCTION invitation_by_code(wanted text, caller uuid) RETURNS SETOF invitations STABLE ROWS 1 LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT i.* FROM invitations i JOIN platforms inviter ON inviter.id = i.platform_id JOIN platforms reader ON reader.id = caller
    WHERE i.code = wanted AND inviter.environment = reader.environment AND inviter.closed_at IS NULL
      AND (caller = visible_platform() OR all_platforms_visible())
$$;
-- +goose StatementEnd

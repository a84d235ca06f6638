-- +goose Up

-- Changes of prices that need four eyes: proposed by one operator and approved by another. They are not in
-- ledger_proposals, because a change for all platforms belongs to no platform. They are records for ever.
CREATE TABLE corridor_proposals (
    id            uuid        PRIMARY KEY,
    platform_id   uuid        REFERENCES platforms, -- NULL: all platforms
    operation     text        NOT NULL, -- the command
    request       text        NOT NULL, -- JSON, with the terms before and after
    status        text        NOT NULL CONSTRAINT corridor_proposal_status_known CHECK (status IN ('PENDING', 'EXECUTED', 'REJECTED')),
    proposer      text        NOT NULL CONSTRAINT corridor_proposal_has_proposer CHECK (proposer <> ''),
    decider       text        NOT NULL DEFAULT '',
    note          text        NOT NULL DEFAULT '' CONSTRAINT corridor_proposal_note_length CHECK (length(note) <= 500),
    error_code    text        NOT NULL DEFAULT '', -- of the last approval that could not be carried out
    error_message text        NOT NULL DEFAULT '',
    error_at      timestamptz,
    created_at    timestamptz NOT NULL,
    expires_at    timestamptz NOT NULL,
    decided_at    timestamptz,
    CONSTRAINT corridor_proposal_has_decider CHECK ((status <> 'PENDING') = (decided_at IS NOT NULL) AND (status <> 'PENDING') = (decider <> '')),
    CONSTRAINT corridor_proposal_two_people CHECK (status <> 'EXECUTED' OR lower(decider) <> lower(proposer))
);

-- A decided proposal never changes, and what was proposed never does.
-- +goose StatementBegin
CREATE FUNCTION corridor_check_proposal_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF OLD.status <> 'PENDING' THEN
        RAISE EXCEPTION 'a decided proposal cannot be changed'
            USING ERRCODE = 'restrict_violation', CONSTRAINT = 'corridor_proposal_decided_once', TABLE = 'corridor_proposals';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER not_deleted BEFORE DELETE OR TRUNCATE ON corridor_proposals FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER corridor_proposal_check_change BEFORE UPDATE ON corridor_proposals FOR EACH ROW EXECUTE FUNCTION corridor_check_proposal_change();
CREATE TRIGGER corridor_proposal_fixed BEFORE UPDATE OF id, platform_id, operation, request, proposer, created_at, expires_at ON corridor_proposals
    FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON corridor_proposals REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('corridor-proposal', 'id');
CREATE TRIGGER ledger_evidence_decision AFTER INSERT OR UPDATE ON corridor_proposals
    FOR EACH ROW WHEN (NEW.status <> 'PENDING' AND NEW.platform_id IS NOT NULL) EXECUTE FUNCTION ledger_queue_decision('corridor-decision');
-- Only the owner of the database, as whom the commands of operators work, writes it.
GRANT SELECT ON corridor_proposals TO causeway_service;
SELECT isolate_platforms('corridor_proposals');

-- Every change of corridor_overrides, however it was made: the value before and after.
-- NULL is the built-in value.
CREATE TABLE corridor_changes (
    seq              bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    changed_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_by       text        NOT NULL -- the operator of a command, or the login of a change by hand
        DEFAULT coalesce(nullif(current_setting('causeway.operator', true), ''), session_user),
    note             text        NOT NULL,
    platform_id      uuid        REFERENCES platforms, -- NULL: all platforms
    source           text        NOT NULL,
    destination      text        NOT NULL,
    old_fee_fixed    bigint,
    old_fee_fraction text,
    old_min_sending  bigint,
    old_max_sending  bigint,
    old_lock_seconds int,
    new_fee_fixed    bigint,
    new_fee_fraction text,
    new_min_sending  bigint,
    new_max_sending  bigint,
    new_lock_seconds int,
    -- The proposal that the change was made by, and who approved it: from the settings of the transaction. At most one
    -- change is made by a proposal.
    proposal_id      uuid        DEFAULT nullif(current_setting('causeway.proposal', true), '')::uuid
        CONSTRAINT corridor_change_proposal_id_fkey REFERENCES corridor_proposals
        CONSTRAINT corridor_change_once_by_proposal UNIQUE,
    approver         text        NOT NULL DEFAULT coalesce(current_setting('causeway.approver', true), ''),
    CONSTRAINT corridor_change_has_approver CHECK ((proposal_id IS NOT NULL) = (approver <> '')),
    CONSTRAINT corridor_change_two_people CHECK (approver = '' OR lower(approver) <> lower(changed_by))
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON corridor_changes FOR EACH STATEMENT EXECUTE FUNCTION reject_change();
CREATE TRIGGER ledger_evidence AFTER INSERT ON corridor_changes REFERENCING NEW TABLE AS inserted
    FOR EACH STATEMENT EXECUTE FUNCTION ledger_queue_evidence('corridor-change', 'seq');
-- Only the owner of the database, as whom the commands of operators work, writes it.
GRANT SELECT ON corridor_changes TO causeway_service;
SELECT isolate_platforms('corridor_changes', 'platform_id IS NULL OR platform_id = (SELECT visible_platform())');

-- The operator's changes to the built-in corridor terms. A row without a platform applies
-- to all platforms; NULL keeps the built-in value.
CREATE TABLE corridor_overrides (
    platform_id  uuid REFERENCES platforms,
    source       text NOT NULL,
    destination  text NOT NULL,
    fee_fixed    bigint CONSTRAINT corridor_fixed_fee_not_negative CHECK (fee_fixed >= 0),
    fee_fraction text,
    min_sending  bigint CONSTRAINT corridor_minimum_positive CHECK (min_sending > 0),
    max_sending  bigint CONSTRAINT corridor_maximum_positive CHECK (max_sending > 0),
    lock_seconds int CONSTRAINT corridor_lock_between_1_and_15_minutes CHECK (lock_seconds BETWEEN 60 AND 900)
);
CREATE UNIQUE INDEX corridor_override_unique ON corridor_overrides
    (coalesce(platform_id, '00000000-0000-0000-0000-000000000000'), source, destination);

-- Runs with the rights of the owner, so that corridor_overrides cannot be changed without
-- a row in corridor_changes.
-- +goose StatementBegin
CREATE FUNCTION corridor_record_change() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
    change_note text := coalesce(current_setting('causeway.change_note', true), '');
    removed boolean := TG_OP <> 'INSERT';
    added   boolean := TG_OP <> 'DELETE';
BEGIN
    IF TG_OP = 'UPDATE' AND (OLD.platform_id, OLD.source, OLD.destination) IS NOT DISTINCT FROM (NEW.platform_id, NEW.source, NEW.destination) THEN
        IF OLD IS DISTINCT FROM NEW THEN
            INSERT INTO corridor_changes (note, platform_id, source, destination,
                old_fee_fixed, old_fee_fraction, old_min_sending, old_max_sending, old_lock_seconds,
                new_fee_fixed, new_fee_fraction, new_min_sending, new_max_sending, new_lock_seconds)
            VALUES (change_note, NEW.platform_id, NEW.source, NEW.destination,
                OLD.fee_fixed, OLD.fee_fraction, OLD.min_sending, OLD.max_sending, OLD.lock_seconds,
                NEW.fee_fixed, NEW.fee_fraction, NEW.min_sending, NEW.max_sending, NEW.lock_seconds);
        END IF;
        RETURN NULL;
    END IF;
    IF removed THEN
        INSERT INTO corridor_changes (note, platform_id, source, destination,
            old_fee_fixed, old_fee_fraction, old_min_sending, old_max_sending, old_lock_seconds)
        VALUES (change_note, OLD.platform_id, OLD.source, OLD.destination,
            OLD.fee_fixed, OLD.fee_fraction, OLD.min_sending, OLD.max_sending, OLD.lock_seconds);
    END IF;
    IF added THEN
        INSERT INTO corridor_changes (note, platform_id, source, destination,
            new_fee_fixed, new_fee_fraction, new_min_sending, new_max_sending, new_lock_seconds)
        VALUES (change_note, NEW.platform_id, NEW.source, NEW.destination,
            NEW.fee_fixed, NEW.fee_fraction, NEW.min_sending, NEW.max_sending, NEW.lock_seconds);
    END IF;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER corridor_overrides_record_change AFTER INSERT OR UPDATE OR DELETE ON corridor_overrides
    FOR EACH ROW EXECUTE FUNCTION corridor_record_change();
-- TRUNCATE would remove rows without recording them.
CREATE TRIGGER corridor_overrides_no_truncate BEFORE TRUNCATE ON corridor_overrides
    FOR EACH STATEMENT EXECUTE FUNCTION reject_change('Use DELETE, which is recorded.');
-- Only the owner of the database, as whom the commands of operators work, writes it.
GRANT SELECT ON corridor_overrides TO causeway_service;
SELECT isolate_platforms('corridor_overrides', 'platform_id IS NULL OR platform_id = (SELECT visible_platform())');

-- Market rates as they were at a time, so that a position of the past is valued at the rates of its time. They are the
-- same for all platforms. Rows are deleted after ten years, in adapters/postgres/market_rates.go.
CREATE TABLE market_rates (
    kept_at  timestamptz NOT NULL,
    currency text        NOT NULL,
    usd_rate text        NOT NULL, -- smallest units of USD for one smallest unit of the currency
    rate_at  timestamptz NOT NULL,
    source   text        NOT NULL,
    PRIMARY KEY (kept_at, currency),
    CONSTRAINT market_rate_positive CHECK (usd_rate::numeric > 0),
    CONSTRAINT market_rate_not_from_future CHECK (rate_at <= kept_at),
    CONSTRAINT market_rate_has_source CHECK (source <> '')
);
GRANT SELECT, INSERT, DELETE ON market_rates TO causeway_service;

-- Market rates are sealed in the log of evidence of each platform that has, or had, a functional currency: the rates of one
-- time are one fact, each version of them, and their deletion.

-- Queues the times whose rates changed, for all platforms. The triggers run for the service alone: whoever else changes a
-- rate, with the rights of the owner of the table, leaves it as it was sealed. The rows of the queue are locked until the
-- commit, as those of ledger_queue_version. The argument of the trigger is the kind of the facts.
-- +goose StatementBegin
CREATE FUNCTION ledger_queue_market_rates() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET timezone = 'UTC' SET datestyle = 'ISO, YMD' AS $$
BEGIN
    INSERT INTO ledger_evidence_queue AS q (platform_id, kind, subject, queued_at)
    SELECT s.platform_id, TG_ARGV[0], c.kept_at::text, clock_timestamp()
    FROM (SELECT DISTINCT kept_at FROM changed) c CROSS JOIN (SELECT DISTINCT platform_id FROM ledger_settings WHERE functional_currency <> '') s
    ORDER BY s.platform_id, c.kept_at
    ON CONFLICT (platform_id, kind, subject) DO UPDATE SET queued_at = q.queued_at;
    RETURN NULL;
END
$$;
-- +goose StatementEnd

-- Queues all rates for a platform that has a functional currency from now on, because its first months may be valued at
-- any of them. The lock waits for rates that are being kept: their trigger does not see these settings yet.
-- +goose StatementBegin
CREATE FUNCTION ledger_queue_kept_rates() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET timezone = 'UTC' SET datestyle = 'ISO, YMD' AS $$
BEGIN
    IF EXISTS (SELECT FROM ledger_settings s WHERE s.platform_id = NEW.platform_id AND s.version <> NEW.version AND s.functional_currency <> '') THEN
        RETURN NULL;
    END IF;
    LOCK TABLE market_rates IN SHARE MODE;
    INSERT INTO ledger_evidence_queue (platform_id, kind, subject, queued_at)
    SELECT NEW.platform_id, 'market-rates', c.kept_at::text, clock_timestamp() FROM (SELECT DISTINCT kept_at FROM market_rates) c ORDER BY c.kept_at
    ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION ledger_queue_market_rates, ledger_queue_kept_rates FROM PUBLIC;
CREATE TRIGGER ledger_evidence_version AFTER INSERT ON market_rates REFERENCING NEW TABLE AS changed
    FOR EACH STATEMENT WHEN (current_user = 'causeway_service') EXECUTE FUNCTION ledger_queue_market_rates('market-rates');
CREATE TRIGGER ledger_evidence_deletion AFTER DELETE ON market_rates REFERENCING OLD TABLE AS changed
    FOR EACH STATEMENT WHEN (current_user = 'causeway_service') EXECUTE FUNCTION ledger_queue_market_rates('market-rates');

-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- A second person approves changes of prices and connections on the console, with the rights of the service. The service still proposes
-- none: it carries out what the owner of the database has proposed, as it was proposed, and nothing else. The proposal is pending until
-- the end of the transaction that carries it out.
GRANT UPDATE (status, decider, decider_person_id, note, error_code, error_message, error_at, decided_at) ON corridor_proposals TO causeway_service;
GRANT UPDATE (status, decider, decider_person_id, note, error_code, error_message, error_at, decided_at) ON rail_proposals TO causeway_service;
GRANT INSERT, DELETE, UPDATE (fee_fixed, fee_fraction, min_sending, max_sending, lock_seconds) ON corridor_overrides TO causeway_service;
GRANT INSERT ON rail_connections, rail_tests, rail_opening_balances TO causeway_service;

-- +goose StatementBegin
CREATE FUNCTION is_owner_of(relation oid) RETURNS boolean LANGUAGE sql STABLE SET search_path = public, pg_temp AS $$
    SELECT pg_has_role(current_user, relowner, 'MEMBER') FROM pg_class WHERE oid = relation
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION refuse_unproposed(relation name, proposal uuid) RETURNS void LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF proposal IS NULL THEN
        RAISE insufficient_privilege USING MESSAGE = format('permission denied for table %s: the service changes it only as it was proposed', relation);
    END IF;
    RAISE EXCEPTION 'the service changes % only as it was proposed', relation
        USING ERRCODE = 'restrict_violation', CONSTRAINT = 'changed_as_proposed', TABLE = relation;
END
$$;
-- +goose StatementEnd

-- +goose StatementBegin
CREATE FUNCTION corridor_check_proposed() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
DECLARE
    changed corridor_overrides;
    of      uuid := nullif(current_setting('causeway.proposal', true), '');
    wanted  jsonb; -- the values that the corridor has of its own afterwards; those that are left out are built in
BEGIN
    IF TG_OP = 'DELETE' THEN changed := OLD; ELSE changed := NEW; END IF;
    IF is_owner_of(TG_RELID) THEN RETURN changed; END IF;
    SELECT p.request::jsonb #> '{after,override}' INTO wanted FROM corridor_proposals p
    WHERE p.id = of AND p.status = 'PENDING' AND p.expires_at > now()
        AND p.platform_id IS NOT DISTINCT FROM changed.platform_id
        AND (p.request::jsonb ->> 'from', p.request::jsonb ->> 'to') = (changed.source, changed.destination);
    IF wanted IS NULL OR (TG_OP = 'DELETE') <> (wanted = '{}') THEN
        PERFORM refuse_unproposed(TG_TABLE_NAME, of);
    ELSIF TG_OP <> 'DELETE' AND (NEW.fee_fixed, NEW.fee_fraction::numeric, NEW.min_sending, NEW.max_sending, NEW.lock_seconds) IS DISTINCT FROM (
        (wanted ->> 'fee-fixed')::bigint, rtrim(wanted ->> 'fee-percent', '%')::numeric / 100, (wanted ->> 'min')::bigint,
        (wanted ->> 'max')::bigint,
        rtrim(wanted ->> 'lock', 'ms')::integer * CASE WHEN wanted ->> 'lock' LIKE '%m' THEN 60 ELSE 1 END) THEN
        PERFORM refuse_unproposed(TG_TABLE_NAME, of);
    END IF;
    RETURN changed;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER corridor_as_proposed BEFORE INSERT OR UPDATE OR DELETE ON corridor_overrides FOR EACH ROW EXECUTE FUNCTION corridor_check_proposed();

-- +goose StatementBegin
CREATE FUNCTION rail_check_proposed() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF is_owner_of(TG_RELID) OR EXISTS (
        SELECT FROM rail_proposals p WHERE p.id = NEW.proposal_id AND p.status = 'PENDING' AND p.expires_at > now()
            AND p.request::jsonb ->> 'connection' = NEW.name AND coalesce((p.request::jsonb ->> 'afterVersion')::integer, 0) = NEW.version - 1
            AND CASE p.operation
                WHEN 'rails set' THEN NEW.state = 'OPEN' AND NEW.settings - 'exclusive' = p.request::jsonb -> 'file'
                ELSE (p.operation, NEW.state) IN (('rails retire', 'RETIRED'), ('rails delete', 'DELETED'))
                    AND EXISTS (SELECT FROM rail_connections c WHERE c.name = NEW.name AND c.settings = NEW.settings)
            END) THEN
        RETURN NEW;
    END IF;
    PERFORM refuse_unproposed(TG_TABLE_NAME, NEW.proposal_id);
    RETURN NULL;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER rail_as_proposed BEFORE INSERT ON rail_connections FOR EACH ROW EXECUTE FUNCTION rail_check_proposed();

-- The test of a version that comes into force in the same transaction.
-- +goose StatementBegin
CREATE FUNCTION rail_check_test() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT is_owner_of(TG_RELID) AND NOT EXISTS (
        SELECT FROM rail_connections c JOIN rail_proposals p ON p.id = c.proposal_id AND p.status = 'PENDING'
        WHERE c.name = NEW.connection AND c.version = NEW.version AND NOT coalesce((p.request::jsonb ->> 'untested')::boolean, false)) THEN
        PERFORM refuse_unproposed(TG_TABLE_NAME, NULL);
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER rail_as_proposed BEFORE INSERT ON rail_tests FOR EACH ROW EXECUTE FUNCTION rail_check_test();

-- +goose StatementBegin
CREATE FUNCTION rail_check_balance() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT is_owner_of(TG_RELID) AND NOT EXISTS (
        SELECT FROM rail_proposals p WHERE p.id = NEW.proposal_id AND p.status = 'PENDING' AND p.expires_at > now()
            AND p.operation = 'rails balance' AND p.request::jsonb ->> 'connection' = NEW.connection
            AND p.request::jsonb ->> 'currency' = NEW.currency AND coalesce((p.request::jsonb ->> 'amount')::bigint, 0) = NEW.amount
            AND (p.request::jsonb ->> 'at')::timestamptz = NEW.at) THEN
        PERFORM refuse_unproposed(TG_TABLE_NAME, NEW.proposal_id);
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER rail_as_proposed BEFORE INSERT ON rail_opening_balances FOR EACH ROW EXECUTE FUNCTION rail_check_balance();

-- A temporary table, which the service may create, would be found in place of one that a function without a search path reads or writes
-- with the rights of its caller.
ALTER FUNCTION ledger_queue_decision SET search_path = public, pg_temp;
ALTER FUNCTION ledger_queue_evidence SET search_path = public, pg_temp;
ALTER FUNCTION require_payment_authorization SET search_path = public, pg_temp;
ALTER FUNCTION require_wallet_authorization SET search_path = public, pg_temp;

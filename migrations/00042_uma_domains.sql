-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- Requests of other UMA providers find a production platform by its domain, so none takes the domain of another. Platforms that have the
-- same one already keep it until one of them changes it, and are not found: no unique index holds that. Domains under test are those of new
-- platforms until they have set one, and no provider is reached at them.
-- +goose StatementBegin
CREATE FUNCTION platform_check_uma_domain() RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(hashtextextended('uma domain ' || NEW.uma_domain, 0)); -- the next statement sees who has it
    IF EXISTS (SELECT FROM platforms p WHERE p.environment = 'PRODUCTION' AND p.uma_domain = NEW.uma_domain AND p.id <> NEW.id) THEN
        RAISE EXCEPTION 'another production platform has the UMA domain %', NEW.uma_domain
            USING ERRCODE = 'unique_violation', CONSTRAINT = 'platform_uma_domain_unique', TABLE = 'platforms';
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
REVOKE ALL ON FUNCTION platform_check_uma_domain() FROM PUBLIC;
CREATE TRIGGER platform_uma_domain_unique BEFORE INSERT ON platforms
    FOR EACH ROW WHEN (NEW.environment = 'PRODUCTION' AND NEW.uma_domain NOT LIKE '%.test') EXECUTE FUNCTION platform_check_uma_domain();
CREATE TRIGGER platform_uma_domain_stays_unique BEFORE UPDATE OF uma_domain ON platforms
    FOR EACH ROW WHEN (NEW.environment = 'PRODUCTION' AND NEW.uma_domain <> OLD.uma_domain AND NEW.uma_domain NOT LIKE '%.test')
    EXECUTE FUNCTION platform_check_uma_domain();

-- +goose Up
-- The previous version runs beside it.
SET LOCAL lock_timeout = '1s';

-- A person stops and resumes connections on the console, with the rights of the service, and is named. A rail on all connections is
-- stopped by the owner of the database alone.
GRANT INSERT ON rail_controls TO causeway_service;

-- +goose StatementBegin
CREATE FUNCTION rail_check_person() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$
BEGIN
    IF NOT is_owner_of(TG_RELID) AND NOT (EXISTS (SELECT FROM people p WHERE p.id = NEW.person_id AND p.status = 'ACTIVE')
        AND EXISTS (SELECT FROM rail_connections c WHERE c.name = NEW.name)) THEN
        RAISE insufficient_privilege USING
            MESSAGE = format('permission denied for table %s: the service stops connections only for a person who may sign in', TG_TABLE_NAME);
    END IF;
    RETURN NEW;
END
$$;
-- +goose StatementEnd
CREATE TRIGGER rail_by_person BEFORE INSERT ON rail_controls FOR EACH ROW EXECUTE FUNCTION rail_check_person();

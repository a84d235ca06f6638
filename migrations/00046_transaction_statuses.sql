-- +goose Up
SET LOCAL lock_timeout = '1s';

-- The status of each transaction, in the order of the lists: for lists by status and type that match
-- few of many. An index of transactions on its status would make each change of it update every
-- index of that table.
CREATE TABLE transaction_statuses (
    platform_id uuid NOT NULL,
    status      text NOT NULL,
    direction   text NOT NULL,
    id          uuid NOT NULL,
    PRIMARY KEY (platform_id, status, direction, id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);
GRANT SELECT ON transaction_statuses TO causeway_service;
SELECT isolate_platforms('transaction_statuses');

-- Triggers, because the previous release does not know the table. The settings keep the plans on the
-- primary key, however small the table was when they were made.
-- +goose StatementBegin
CREATE FUNCTION add_transaction_statuses() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
    INSERT INTO transaction_statuses SELECT n.platform_id, n.status, n.direction, n.id FROM new_transactions n;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION change_transaction_status() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET enable_seqscan = off AS $$
BEGIN
    UPDATE transaction_statuses s SET status = NEW.status
    WHERE s.platform_id = OLD.platform_id AND s.status = OLD.status AND s.direction = OLD.direction AND s.id = OLD.id;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION delete_transaction_status() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp
SET enable_seqscan = off AS $$
BEGIN
    DELETE FROM transaction_statuses s
    WHERE s.platform_id = OLD.platform_id AND s.status = OLD.status AND s.direction = OLD.direction AND s.id = OLD.id;
    RETURN NULL;
END
$$;
-- +goose StatementEnd
REVOKE EXECUTE ON FUNCTION add_transaction_statuses, change_transaction_status, delete_transaction_status FROM PUBLIC;

CREATE TRIGGER add_statuses AFTER INSERT ON transactions
    REFERENCING NEW TABLE AS new_transactions FOR EACH STATEMENT EXECUTE FUNCTION add_transaction_statuses();
CREATE TRIGGER change_status AFTER UPDATE ON transactions FOR EACH ROW WHEN (OLD.status <> NEW.status) EXECUTE FUNCTION change_transaction_status();
CREATE TRIGGER delete_status AFTER DELETE ON transactions FOR EACH ROW EXECUTE FUNCTION delete_transaction_status();

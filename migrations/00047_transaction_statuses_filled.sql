-- +goose NO TRANSACTION
-- +goose Up

-- In batches by primary key, each in its own transaction. A row is locked while its status is copied,
-- so a change is either copied or made by the trigger. The file can be repeated.
-- +goose StatementBegin
DO $$
DECLARE
    platform uuid;
    after    uuid;
    batch    uuid[];
BEGIN
    FOR platform IN SELECT p.id FROM platforms p ORDER BY p.id LOOP
        after := '00000000-0000-0000-0000-000000000000';
        LOOP
            batch := ARRAY(SELECT t.id FROM transactions t WHERE t.platform_id = platform AND t.id > after ORDER BY t.id LIMIT 5000);
            EXIT WHEN cardinality(batch) = 0;
            WITH copied AS (
                SELECT t.platform_id, t.status, t.direction, t.id FROM transactions t
                WHERE t.platform_id = platform AND t.id = ANY (batch) ORDER BY t.id FOR SHARE)
            INSERT INTO transaction_statuses SELECT * FROM copied ON CONFLICT DO NOTHING;
            after := batch[cardinality(batch)];
            COMMIT;
        END LOOP;
    END LOOP;
END
$$;
-- +goose StatementEnd

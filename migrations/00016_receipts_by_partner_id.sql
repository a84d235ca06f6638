-- +goose NO TRANSACTION
-- +goose Up
DROP INDEX CONCURRENTLY IF EXISTS receipts_by_partner_id; -- left by a failed attempt

-- A payment is unique by the partner's id of it. An id that several receipts have, because a partner
-- reported one payment with different times or a correction took the id of its statement line, stays
-- with the first of them. If a previous release that runs beside this one stores a repeated payment
-- before the index is complete, the file fails and can be applied again.
UPDATE receipts r SET partner_id = 'repeat of ' || r.partner_id || ', ' || r.id
FROM (SELECT platform_id, id, row_number() OVER (PARTITION BY platform_id, rail, partner_id ORDER BY received_at, id) AS n FROM receipts) d
WHERE d.platform_id = r.platform_id AND d.id = r.id AND d.n > 1;

-- The previous release then fails to store a payment that a partner reports again with another time,
-- instead of storing it twice.
CREATE UNIQUE INDEX CONCURRENTLY receipts_by_partner_id ON receipts (platform_id, rail, partner_id);

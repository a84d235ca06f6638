-- +goose Up
-- A payment is unique by the partner's id of it, for which the next file makes an index. An id that
-- several receipts have, because a partner reported one payment with different times or a correction
-- took the id of its statement line, stays with the first of them. Ids are at most 255 bytes long: a
-- longer one is its hash, as the program writes it.
SET LOCAL lock_timeout = '1s';
UPDATE receipts r
SET partner_id = CASE WHEN d.n > 1 THEN 'repeat of ' || d.short_id || ', ' || r.id ELSE d.short_id END
FROM (
    SELECT platform_id, id, short_id, row_number() OVER (PARTITION BY platform_id, rail, short_id ORDER BY received_at, id) AS n
    FROM (
        SELECT platform_id, id, rail, received_at,
            CASE WHEN octet_length(partner_id) > 255 THEN 'sha256:' || encode(sha256(convert_to(partner_id, 'UTF8')), 'hex') ELSE partner_id END AS short_id
        FROM receipts
    ) s
) d
WHERE d.platform_id = r.platform_id AND d.id = r.id AND (d.n > 1 OR d.short_id <> r.partner_id);

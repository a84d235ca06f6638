-- +goose Up
-- A partner's id is at most 255 bytes long: a longer one is its hash, as the program writes it.
UPDATE receipts SET partner_id = 'sha256:' || encode(sha256(convert_to(partner_id, 'UTF8')), 'hex') WHERE octet_length(partner_id) > 255;

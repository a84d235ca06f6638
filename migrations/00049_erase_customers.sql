-- +goose Up
SET LOCAL lock_timeout = '1s';

-- What was written about a payment is removed when the personal data of its customer is erased.
GRANT UPDATE (description) ON quotes TO causeway_service;

ALTER TABLE operator_actions
    DROP CONSTRAINT operator_action_known,
    ADD CONSTRAINT operator_action_known CHECK (action IN ('CREATE_PLATFORM', 'UPDATE_PLATFORM', 'CREATE_TOKEN', 'DELETE_TOKEN', 'SET_CORRIDOR', 'RESET_CORRIDOR',
        'ARCHIVE_MONTH', 'RESTORE_MONTH', 'ROTATE_DATA_KEY', 'REMOVE_DATA_KEY', 'ROTATE_LEDGER_KEY', 'ROTATE_WEBHOOK_KEYS', 'ERASE_CUSTOMER'));

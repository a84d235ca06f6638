package postgres

import (
	"bytes"
	"encoding/base64"
	"fmt"

	"github.com/google/uuid"
)

// A sealedColumn is a column with personal data, which is stored encrypted. Sealing and opening take
// nothing else, so no column is encrypted that ReencryptPersonalData does not know.
type sealedColumn int

// Columns that are stored encrypted. A new one needs a line here and one in sealedColumns.
const (
	customersEmail sealedColumn = iota
	customersDetails
	externalAccountsFields
	externalAccountsBeneficiary
	externalAccountsVerifiedName
	externalAccountsFingerprint
	transactionsDetails
	idempotencyKeysBody
	documentsDetails
	webhookEventsBody // sealed by the package outbox
	lookupsReceiverInfo
	reconciliationLinesReferences
	reconciliationLinesDescription
	beneficialOwnersDetails
	verificationsDetails
	customerImportChunksRows
	verificationReviewsDetails
	screeningHitsDetails
	invitationsFirstName
	internalAccountsInstructions
	walletKeysEntropy // only by sealSecret and openSecret
	mailsContent
	walletCredentialsNickname
	walletCredentialsEmail
	walletCredentialsEmailFingerprint
	walletCredentialsIdentity
	walletAuthorizationsPayload
	agentsName
	agentActionsReason
	railFeedItemsContent
	railStatementsContent
	partnerEventsBody
	bankOrdersDetails
	bankOrdersReason
	bankCorrectionsDetails
	receiptPayersAccount
	numSealedColumns // keep last
)

// sealedColumns is the register of the columns that are stored encrypted. causeway_service needs the
// privilege to update them, and to select the rest of the row.
var sealedColumns = [numSealedColumns]struct {
	table, name string
	format      columnFormat
}{
	customersEmail:               {"customers", "email", textFormat},
	customersDetails:             {"customers", "details", jsonFormat},
	externalAccountsFields:       {"external_accounts", "fields", jsonFormat},
	externalAccountsBeneficiary:  {"external_accounts", "beneficiary", jsonFormat},
	externalAccountsVerifiedName: {"external_accounts", "verified_name", textFormat},
	externalAccountsFingerprint:  {"external_accounts", "fingerprint", fingerprintFormat},
	transactionsDetails:          {"transactions", "details", textFormat},
	idempotencyKeysBody:          {"idempotency_keys", "body", bytesFormat},
	documentsDetails:             {"documents", "details", jsonFormat},
	beneficialOwnersDetails:      {"beneficial_owners", "details", jsonFormat},
	verificationsDetails:         {"verifications", "details", jsonFormat},
	verificationReviewsDetails:   {"verification_reviews", "details", jsonFormat},
	screeningHitsDetails:         {"screening_hits", "details", jsonFormat},
	webhookEventsBody:            {"webhook_events", "body", bytesFormat},
	lookupsReceiverInfo:          {"lookups", "receiver_info", jsonFormat},
	customerImportChunksRows:     {"customer_import_chunks", "rows", bytesFormat},
	invitationsFirstName:         {"invitations", "first_name", textFormat},
	internalAccountsInstructions: {"internal_accounts", "instructions", textFormat}, // the holder of a bank account
	walletKeysEntropy:            {"wallet_keys", "entropy", bytesFormat},
	mailsContent:                 {"mails", "content", textFormat},

	walletCredentialsNickname:         {"wallet_credentials", "nickname", textFormat},
	walletCredentialsEmail:            {"wallet_credentials", "email", textFormat},
	walletCredentialsEmailFingerprint: {"wallet_credentials", "email_fingerprint", fingerprintFormat},
	walletCredentialsIdentity:         {"wallet_credentials", "identity", jsonFormat},
	walletAuthorizationsPayload:       {"wallet_authorizations", "payload", textFormat},
	agentsName:                        {"agents", "name", textFormat},
	agentActionsReason:                {"agent_actions", "reason", textFormat}, // free text of the platform
	partnerEventsBody:                 {"partner_events", "body", textFormat},
	bankOrdersDetails:                 {"bank_orders", "details", textFormat},
	bankOrdersReason:                  {"bank_orders", "reason", textFormat}, // free text of the bank
	bankCorrectionsDetails:            {"bank_corrections", "details", textFormat},

	receiptPayersAccount:  {"receipt_payers", "account", textFormat},
	railFeedItemsContent:  {"rail_feed_items", "content", textFormat},
	railStatementsContent: {"rail_statements", "content", bytesFormat},

	reconciliationLinesReferences:  {"reconciliation_lines", "reference_list", textFormat},
	reconciliationLinesDescription: {"reconciliation_lines", "description", textFormat},
}

// encryptedSince is the generation of data keys with which a column began to be encrypted, for those
// that versions before stored as they are.
var encryptedSince = map[sealedColumn]int{
	internalAccountsInstructions:   2,
	lookupsReceiverInfo:            2,
	reconciliationLinesReferences:  2,
	reconciliationLinesDescription: 2,
}

// neverSealed are the rows, as conditions, whose value of a column identifies no person and is stored as
// it is. Commands without the master key write and read these.
var neverSealed = map[sealedColumn]string{
	internalAccountsInstructions:      "customer_id IS NULL",    // an account of the platform
	walletCredentialsEmailFingerprint: "email_fingerprint = ''", // no address
}

// keySQL is that of the format, and NULL for rows that are never encrypted.
func (c sealedColumn) keySQL() string {
	sql := sealedColumns[c].format.keySQL(sealedColumns[c].name)
	if rows, some := neverSealed[c]; some {
		return fmt.Sprintf("CASE WHEN %s THEN NULL ELSE %s END", rows, sql)
	}
	return sql
}

// sealedKeys describes the tables whose primary key is not platform_id and id: its second column, and
// the row that a value is bound to.
var sealedKeys = map[string]struct {
	column string
	row    func(platform uuid.UUID, key string) sealedRow
}{
	"idempotency_keys": {"key", responseRowName},
}

// context returns what binds a value to its column and row.
func (c sealedColumn) context(row sealedRow) []byte {
	column := sealedColumns[c]
	context := make([]byte, 0, len(column.table)+len(column.name)+2*len(uuid.UUID{})+2)
	context = append(append(append(append(context, column.table...), '.'), column.name...), 0)
	return append(append(context, row.platform[:]...), row.id[:]...)
}

// columnFormat says how a column stores encrypted values, and how these differ from plain ones,
// which were written before there was a data key.
type columnFormat int

const (
	textFormat        columnFormat = iota + 1 // a control character before base64
	jsonFormat                                // a string of base64; a plain value is an object or array
	bytesFormat                               // begins with a version below any printable character; a plain value is a text
	fingerprintFormat                         // a keyed hash by which equal values are found, which is never replaced
)

const sealedTextPrefix = "\x01"

// encode returns the column value of an encrypted value.
func (f columnFormat) encode(sealed []byte) []byte {
	switch f {
	case textFormat:
		return base64.StdEncoding.AppendEncode([]byte(sealedTextPrefix), sealed)
	case jsonFormat:
		return append(base64.StdEncoding.AppendEncode([]byte{'"'}, sealed), '"')
	default:
		return sealed
	}
}

// decode returns the encrypted value of a column value, and false if that is plain.
func (f columnFormat) decode(stored []byte) (sealed []byte, isSealed bool, err error) {
	switch encoded := stored; {
	case f == textFormat && bytes.HasPrefix(encoded, []byte(sealedTextPrefix)):
		sealed, err = base64.StdEncoding.AppendDecode(nil, encoded[len(sealedTextPrefix):])
		return sealed, true, err
	case f == jsonFormat && bytes.HasPrefix(encoded, []byte{'"'}):
		sealed, err = base64.StdEncoding.AppendDecode(nil, bytes.Trim(encoded, `"`))
		return sealed, true, err
	case f == bytesFormat && len(encoded) > 0 && encoded[0] < ' ':
		return encoded, true, nil
	}
	return nil, false, nil
}

// sqlType is the type of the column.
func (f columnFormat) sqlType() string {
	switch f {
	case jsonFormat:
		return "jsonb"
	case bytesFormat:
		return "bytea"
	default:
		return "text"
	}
}

// keySQL is the id of the data key that a column is encrypted with, in 16 bytes: none if the value
// is plain, and NULL if there is nothing to encrypt. A sealed value is a version, the id and more.
func (f columnFormat) keySQL(column string) string {
	sql := map[columnFormat]string{
		textFormat:        `CASE WHEN left(%[1]s, 1) = E'\x01' THEN substr(decode(substr(%[1]s, 2, 24), 'base64'), 2, 16) WHEN %[1]s <> '' THEN '' END`,
		jsonFormat:        `CASE WHEN jsonb_typeof(%[1]s) = 'string' THEN substr(decode(left(%[1]s #>> '{}', 24), 'base64'), 2, 16) WHEN jsonb_typeof(%[1]s) <> 'null' THEN '' END`,
		bytesFormat:       `CASE WHEN length(%[1]s) = 0 THEN NULL WHEN get_byte(%[1]s, 0) < 32 THEN substr(%[1]s, 2, 16) ELSE '' END`,
		fingerprintFormat: `CASE WHEN NOT starts_with(%[1]s, 'hmac-sha256:') THEN ''::bytea END`,
	}
	return fmt.Sprintf(sql[f], column)
}

package postgres

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"causeway/core/transaction"
)

// detailsColumn holds the fields of a transaction that no query filters by. It is written when
// the transaction is created, and updated only while the platform approves it and when its partner rejects it.
type detailsColumn struct {
	Counterparty map[string]string `json:"counterparty,omitempty"`
	Payer        map[string]string `json:"payer,omitempty"`
	// Description of a transaction without a quote; otherwise the quote has it.
	Description string          `json:"description,omitempty"`
	Approval    *approvalColumn `json:"approval,omitempty"`
	// Payload is what the owner of the wallet signs that pays.
	Payload string `json:"payload,omitempty"`
	// SentBy is the outgoing transaction that an incoming one with an approval receives.
	SentBy uuid.UUID `json:"sentBy,omitzero"`
	// Rejection is what the partner said that rejected or returned the payment: it may name the beneficiary.
	Rejection rejectionColumn `json:"rejection,omitzero"`
}

type rejectionColumn struct {
	Code string `json:"code,omitempty"`
	Text string `json:"text,omitempty"`
}

type approvalColumn struct {
	Webhook   uuid.UUID               `json:"webhook"`
	Requested []transaction.InfoField `json:"requested,omitempty"`
	Until     time.Time               `json:"until,omitzero"`
	Receiver  map[string]string       `json:"receiver,omitempty"`
	Note      string                  `json:"note,omitempty"`
}

// writeDetails returns the value of the column; empty if all fields are. The names of the parties
// are in it, so it is sealed.
func (db *DB) writeDetails(ctx context.Context, t *transaction.Transaction) (string, error) {
	column := detailsColumn{Counterparty: t.Counterparty, Payer: t.Payer, Payload: t.Payload, Rejection: rejectionColumn(t.Rejection)}
	if t.Quote.IsZero() {
		column.Description = t.Description
	}
	if a := t.Approval; a != nil {
		column.SentBy = t.SentBy.UUID()
		column.Approval = &approvalColumn{Webhook: a.Webhook.UUID(), Requested: a.Requested, Until: a.Deadline, Receiver: a.Receiver, Note: a.Note}
	}
	if len(column.Counterparty) == 0 && len(column.Payer) == 0 && column.Description == "" && column.Approval == nil && column.Payload == "" &&
		column.Rejection == (rejectionColumn{}) {
		return "", nil
	}
	text, err := json.Marshal(column)
	if err != nil {
		return "", err
	}
	return db.sealText(ctx, transactionRow(t), transactionsDetails, string(text))
}

func transactionRow(t *transaction.Transaction) sealedRow {
	return sealedRow{t.Platform.UUID(), t.ID.UUID()}
}

func (db *DB) readDetails(ctx context.Context, t *transaction.Transaction, stored string) error {
	if stored == "" {
		return nil
	}
	text, err := db.openText(ctx, transactionRow(t), transactionsDetails, stored)
	if err != nil {
		return err
	}
	var column detailsColumn
	if err := json.Unmarshal([]byte(text), &column); err != nil {
		return fmt.Errorf("details of %s: %w", t.ID, err)
	}
	t.Counterparty, t.Payer, t.Payload, t.Rejection = column.Counterparty, column.Payer, column.Payload, transaction.Rejection(column.Rejection)
	if t.Quote.IsZero() {
		t.Description = column.Description
	}
	if a := column.Approval; a != nil {
		t.Approval = &transaction.Approval{Requested: a.Requested, Deadline: a.Until, Receiver: a.Receiver, Note: a.Note}
		t.Approval.Webhook.SetUUID(a.Webhook)
		t.SentBy.SetUUID(column.SentBy)
	}
	return nil
}

// updateDetails uses the primary key.
const updateDetails = `UPDATE transactions SET details = $3 WHERE platform_id = $1 AND id = $2`

// updateDetails stores approvals and rejections; the other details never change.
func (u *unit) updateDetails(ctx context.Context, transactions []transaction.Transaction) error {
	for i := range transactions {
		t := &transactions[i]
		if t.Approval == nil && t.Rejection == (transaction.Rejection{}) {
			continue
		}
		text, err := u.db.writeDetails(ctx, t)
		if err != nil {
			return err
		}
		u.queueExec(updateDetails, pgID(t.Platform.UUID()), pgID(t.ID.UUID()), text)
	}
	return nil
}

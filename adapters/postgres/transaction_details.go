package postgres

import (
	"time"

	"github.com/google/uuid"

	"causeway/core/money"
	"causeway/core/transaction"
)

// detailsColumn holds the fields of a transaction that no query filters by. It is written when
// the transaction is created, and updated only by what detailsChange lists.
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
	UMA       *umaColumn      `json:"uma,omitempty"`
	// TravelRule names who pays and who is paid.
	TravelRule *travelRuleColumn `json:"travelRule,omitempty"`
	// Originator is who has sent what was received.
	Originator      originatorColumn `json:"originator,omitzero"`
	SourceHash      string           `json:"sourceHash,omitempty"`
	DestinationHash string           `json:"destinationHash,omitempty"`
	// Remittance is what the beneficiary is to read, which may name people.
	Remittance string `json:"remittance,omitempty"`
	// Purpose of a transaction without a quote; otherwise the quote has it.
	Purpose string `json:"purpose,omitempty"`
}

type originatorColumn struct {
	Name        string `json:"name,omitempty"`
	Account     string `json:"account,omitempty"` // masked
	BankName    string `json:"bankName,omitempty"`
	Bank        string `json:"bank,omitempty"`
	EndToEndID  string `json:"endToEndId,omitempty"`
	TraceNumber string `json:"traceNumber,omitempty"`
	Remittance  string `json:"remittance,omitempty"`
}

// umaColumn is what UMA providers have agreed on about a payment by an invoice.
type umaColumn struct {
	Invoice    string `json:"invoice,omitempty"`
	Currency   string `json:"currency,omitempty"`
	Received   int64  `json:"received,omitempty"`
	Multiplier string `json:"multiplier,omitempty"`
	Fee        int64  `json:"fee,omitempty"`
	TravelRule string `json:"travelRule,omitempty"`
	Callback   string `json:"callback,omitempty"`
}

func newUMAColumn(u *transaction.UMA) *umaColumn {
	if u == nil {
		return nil
	}
	return &umaColumn{Invoice: u.Invoice, Currency: string(u.Received.Currency), Received: u.Received.Minor,
		Multiplier: u.Multiplier.String(), Fee: u.Fee, TravelRule: u.TravelRule, Callback: u.Callback}
}

func (c *umaColumn) uma() *transaction.UMA {
	if c == nil {
		return nil
	}
	return &transaction.UMA{Invoice: c.Invoice, Received: money.Amount{Minor: c.Received, Currency: money.Currency(c.Currency)},
		Multiplier: storedMultiplier(c.Multiplier), Fee: c.Fee, TravelRule: c.TravelRule, Callback: c.Callback}
}

type rejectionColumn struct {
	Code string `json:"code,omitempty"`
	Text string `json:"text,omitempty"`
}

type approvalColumn struct {
	Webhook   uuid.UUID                 `json:"webhook"`
	Requested []counterpartyFieldColumn `json:"requested,omitempty"` // was written with the names Name and Mandatory, which are read too
	Until     time.Time                 `json:"until,omitzero"`
	Receiver  map[string]string         `json:"receiver,omitempty"`
	Note      string                    `json:"note,omitempty"`
	Approved  time.Time                 `json:"approved,omitzero"`
}

func newInfoField(f transaction.InfoField) counterpartyFieldColumn { return counterpartyFieldColumn(f) }
func infoField(c counterpartyFieldColumn) transaction.InfoField    { return transaction.InfoField(c) }

// newDetailsColumn returns the column of a transaction, nil if it is empty. The names of the parties are in it, so it is encrypted.
func newDetailsColumn(t *transaction.Transaction) *detailsColumn {
	c := &detailsColumn{Counterparty: t.Counterparty, Payer: t.Payer, Payload: t.Payload, Rejection: rejectionColumn(t.Rejection),
		UMA: newUMAColumn(t.UMA), TravelRule: newTravelRuleColumn(t.TravelRule), SourceHash: t.SourceHash, DestinationHash: t.DestinationHash,
		Remittance: t.Remittance}
	if t.Originator != nil {
		c.Originator = originatorColumn(*t.Originator)
	}
	if t.Quote.IsZero() {
		c.Description, c.Purpose = t.Description, t.Purpose
	}
	if a := t.Approval; a != nil {
		c.SentBy = t.SentBy.UUID()
		c.Approval = &approvalColumn{Webhook: a.Webhook.UUID(), Requested: mapped(a.Requested, newInfoField), Until: a.Deadline,
			Receiver: a.Receiver, Note: a.Note, Approved: a.ApprovedAt}
	}
	if len(c.Counterparty) == 0 && len(c.Payer) == 0 && c.Description == "" && c.Approval == nil && c.Payload == "" && c.UMA == nil &&
		c.TravelRule == nil && c.Rejection == (rejectionColumn{}) && c.Originator == (originatorColumn{}) && c.SourceHash == "" &&
		c.DestinationHash == "" && c.Remittance == "" && c.Purpose == "" {
		return nil
	}
	return c
}

// read sets what the column holds of a transaction.
func (c *detailsColumn) read(t *transaction.Transaction) {
	if c == nil {
		return
	}
	t.Counterparty, t.Payer, t.Payload, t.Rejection = c.Counterparty, c.Payer, c.Payload, transaction.Rejection(c.Rejection)
	t.UMA, t.TravelRule = c.UMA.uma(), c.TravelRule.travelRule()
	t.SourceHash, t.DestinationHash, t.Remittance = c.SourceHash, c.DestinationHash, c.Remittance
	if c.Originator != (originatorColumn{}) {
		t.Originator = new(transaction.Originator(c.Originator))
	}
	if t.Quote.IsZero() {
		t.Description, t.Purpose = c.Description, c.Purpose
	}
	if a := c.Approval; a != nil {
		t.Approval = &transaction.Approval{Requested: mapped(a.Requested, infoField), Deadline: a.Until, Receiver: a.Receiver, Note: a.Note,
			ApprovedAt: a.Approved}
		t.Approval.Webhook.SetUUID(a.Webhook)
		t.SentBy.SetUUID(c.SentBy)
	}
}

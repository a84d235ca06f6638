package postgres

import (
	"time"

	"github.com/google/uuid"

	"causeway/core/account"
)

// ownershipColumn is what the owner of a wallet is asked for, and has proven.
type ownershipColumn struct {
	Challenge *challengeColumn `json:"challenge,omitempty"`
	Proof     *proofColumn     `json:"proof,omitempty"`
}

type challengeColumn struct {
	ID        uuid.UUID `json:"id"`
	Method    string    `json:"method"`
	Message   string    `json:"message,omitempty"`
	CreatedAt time.Time `json:"createdAt"`
	ExpiresAt time.Time `json:"expiresAt"`
}

type proofColumn struct {
	Method    string    `json:"method"`
	ProvenAt  time.Time `json:"provenAt"`
	Message   string    `json:"message,omitempty"`
	Signature string    `json:"signature,omitempty"`
}

func newOwnershipColumn(a *account.External) *ownershipColumn {
	column := ownershipColumn{}
	if c := a.Challenge; c != nil {
		column.Challenge = &challengeColumn{c.ID, string(c.Method), c.Message, c.CreatedAt, c.ExpiresAt}
	}
	if p := a.Proof; p != nil {
		column.Proof = &proofColumn{string(p.Method), p.ProvenAt, p.Message, p.Signature}
	}
	if column == (ownershipColumn{}) {
		return nil
	}
	return &column
}

func (c *ownershipColumn) read(a *account.External) {
	a.Challenge, a.Proof = nil, nil
	if c == nil {
		return
	}
	if stored := c.Challenge; stored != nil {
		a.Challenge = &account.Challenge{ID: stored.ID, Method: account.ProofMethod(stored.Method), Message: stored.Message,
			CreatedAt: stored.CreatedAt, ExpiresAt: stored.ExpiresAt}
	}
	if stored := c.Proof; stored != nil {
		a.Proof = &account.Proof{Method: account.ProofMethod(stored.Method), ProvenAt: stored.ProvenAt, Message: stored.Message,
			Signature: stored.Signature}
	}
}

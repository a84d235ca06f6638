package rails

import (
	"context"

	"github.com/google/uuid"

	"causeway/app/internal/foureyes"
	"causeway/core/books"
	"causeway/core/ident"
	"causeway/core/proposal"
	"causeway/core/rail"
	"causeway/ports"
)

// Release lets a payment go on that waits for a review, or for money, or makes a proposal of it, as the settings of its platform say. It
// is sent when the queue is next looked at. Faults: INVALID_INPUT; those of foureyes.Run.
func (s *Service) Release(ctx context.Context, id uuid.UUID, by Author) (done proposal.Outcome[rail.Payment], err error) {
	if by, err = by.check(); err != nil {
		return done, err
	}
	target, err := s.undecided(ctx, id)
	if err != nil {
		return done, err
	}
	return foureyes.Run(ctx, s.foureyes(), s.release(), target.Platform, by.author(), nil,
		releaseRequest{Payment: target.ID, Kind: target.Kind, Note: by.Note})
}

// releaseRequest is the stored form of a release.
type releaseRequest struct {
	Payment uuid.UUID `json:"paymentId"`
	Kind    rail.Kind `json:"kind"`
	Note    string    `json:"note"`

	target rail.Payment // as it was read last
}

func (s *Service) release() foureyes.Operation[Tx, releaseRequest, rail.Payment] {
	return foureyes.Operation[Tx, releaseRequest, rail.Payment]{ID: "releaseRailPayment", Action: books.ActionRelease,
		Prepare: func(ctx context.Context, p ident.Platform, r releaseRequest) (releaseRequest, error) {
			found, err := s.Store.RailPaymentsByID(ctx, r.Payment)
			for _, payment := range found {
				if payment.Platform == p && payment.Kind == r.Kind {
					r.target = payment
					return r, err
				}
			}
			if err == nil {
				err = noPayment(r.Payment)
			}
			return r, err
		},
		Execute: func(ctx context.Context, tx Tx, c foureyes.Change, r releaseRequest) (rail.Payment, string, error) {
			released, err := s.decideIn(ctx, tx, r.target, nil, as(ports.ReleaseRailPayment, rail.Payment.Release),
				ports.RailDecision{ID: c.ID, Author: c.By, Approval: c.Approval, Note: r.Note, At: c.At})
			return released, c.ID.String(), err
		},
		Figures: func(p rail.Payment) (any, error) {
			return map[string]any{"connection": p.Connection, "amount": p.Amount.String(), "rail": p.Rail}, nil
		}}
}

func (s *Service) foureyes() foureyes.Config[Tx] {
	return foureyes.Config[Tx]{Store: s.Store, Clock: s.Clock, IDs: s.IDs}
}

// Executors carry out the approved proposals of this service.
func (s *Service) Executors() []foureyes.Executor {
	return []foureyes.Executor{s.release().Executor(s.foureyes())}
}

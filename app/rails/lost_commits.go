package rails

import (
	"context"
	"slices"
	"time"

	"causeway/core/fault"
	"causeway/core/rail"
	"causeway/ports"
)

// LostCommitFindings returns when a database was found to lack what had been committed before, newest first.
func (s *Service) LostCommitFindings(ctx context.Context) ([]ports.LostCommitFinding, error) {
	return s.Lost.LostCommitFindings(ctx)
}

// LostCommits returns at most limit of what a finding names. It returns INVALID_INPUT if there is none with the number.
func (s *Service) LostCommits(ctx context.Context, finding int64, limit int) ([]ports.LostCommit, error) {
	if _, err := s.finding(ctx, finding); err != nil {
		return nil, err
	}
	return s.Lost.LostCommits(ctx, finding, limit)
}

func (s *Service) finding(ctx context.Context, id int64) (ports.LostCommitFinding, error) {
	all, err := s.LostCommitFindings(ctx)
	if err != nil {
		return ports.LostCommitFinding{}, err
	}
	i := slices.IndexFunc(all, func(f ports.LostCommitFinding) bool { return f.ID == id })
	if i < 0 {
		return ports.LostCommitFinding{}, fault.New(fault.InvalidInput, "There is no finding %d. List them with: causeway recover list", id)
	}
	return all[i], nil
}

// ReviewLostCommits records that somebody has looked at a finding, and returns those that nobody has: once there are none, money moves
// again. Payments that may have left already are first taken back from their connections; they, and those that were not handed over,
// wait for a review of their own. It returns INVALID_INPUT if there is no finding with the number, or it is reviewed.
func (s *Service) ReviewLostCommits(ctx context.Context, finding int64, by Author) (open []ports.LostCommitFinding, withdrawn int,
	err error) {
	by, err = by.check()
	if err != nil {
		return nil, 0, err
	}
	found, err := s.finding(ctx, finding)
	if err != nil {
		return nil, 0, err
	}
	if !found.ReviewedAt.IsZero() {
		return nil, 0, fault.New(fault.InvalidInput, "Finding %d was reviewed by %s at %s.", finding, found.ReviewedBy,
			found.ReviewedAt.Format(time.RFC3339))
	}
	if withdrawn, err = s.withdrawDoubtful(ctx, found, by); err != nil {
		return nil, withdrawn, err
	}
	if err := s.Lost.SaveLostCommitReview(ctx, finding, by.author(), by.Note, s.Clock.Now()); err != nil {
		return nil, withdrawn, err
	}
	all, err := s.LostCommitFindings(ctx)
	return slices.DeleteFunc(all, func(f ports.LostCommitFinding) bool { return !f.ReviewedAt.IsZero() }), withdrawn, err
}

// maxDoubtful is how many payments that have not left are looked at after a loss: more than any connection keeps waiting.
const maxDoubtful = 1_000_000

// withdrawDoubtful puts payments into review that may have left already: those that connections have, and those that an operator had
// released before. None leaves and none is handed over meanwhile, because every connection is paused.
func (s *Service) withdrawDoubtful(ctx context.Context, found ports.LostCommitFinding, by Author) (withdrawn int, err error) {
	listed, _, err := s.List(ctx)
	if err != nil {
		return 0, err
	}
	connections := make([]rail.Connection, len(listed))
	for i, l := range listed {
		connections[i] = l.Connection
	}
	for _, state := range []rail.State{rail.HandedOver, rail.Queued} {
		payments, err := s.Store.WaitingRailPayments(ctx, state, "", maxDoubtful)
		if err != nil {
			return withdrawn, err
		}
		for _, p := range payments {
			doubt := p.Doubt(connections, found.NoticedAt, s.Clock.Now())
			if doubt == "" || state == rail.Queued && !p.Reviewed { // the queue asks before it hands over what nobody has released
				continue
			}
			_, err := s.decidePayment(ctx, p, by, func(p rail.Payment, _ []ports.RailDecision) (rail.Payment, ports.RailDecisionKind, error) {
				after, err := p.WithdrawForDoubt(doubt, s.Clock.Now())
				return after, ports.WithdrawRailPayment, err
			})
			if fault.Is(err, fault.InvalidInput) { // it has ended meanwhile
				continue
			}
			if err != nil {
				return withdrawn, err
			}
			withdrawn++
		}
	}
	return withdrawn, nil
}

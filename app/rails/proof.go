package rails

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/rail"
	"causeway/ports"
)

const (
	// maxBalanceAge is how old the balance of a connection may be in a proof. Banks send statements of working days, so
	// their last balance is days old after a weekend; it is compared with the ledger of its time.
	maxBalanceAge = 5 * 24 * time.Hour
	// proofDelay is how long after the end of the day its proof is made, so that what partners reported about it is read.
	proofDelay = time.Hour
	// suspectsSince is how long before its balances a proof looks for the payment that explains a difference.
	suspectsSince = 7 * 24 * time.Hour
	maxSuspects   = 10
)

// Prove compares the ledger with the last balances that partners and chains have reported up to a time, and keeps the
// result as the one of its day.
func (s *Service) Prove(ctx context.Context, at time.Time) ([]rail.Proof, error) {
	ctx = ports.ForAllPlatforms(ctx)
	versions, err := s.Connections.RailConnections(ctx)
	if err != nil {
		return nil, err
	}
	connections := make([]rail.Connection, len(versions))
	for i, v := range versions {
		connections[i] = v.Connection
	}
	platforms, err := s.productionPlatforms(ctx)
	if err != nil {
		return nil, err
	}
	var proofs []rail.Proof
	for _, g := range rail.Groups(connections, platforms) {
		p, err := s.prove(ctx, g, connections, at)
		if err != nil {
			return nil, fmt.Errorf("prove %s of %s: %w", g.Currency, strings.Join(g.Connections, ", "), err)
		}
		proofs = append(proofs, p)
	}
	return proofs, s.Proofs.SaveRailProofs(ctx, at.Add(-time.Nanosecond), proofs)
}

// ProveYesterday makes the proof of the day that is over, unless it was made. Running it in several processes is harmless.
func (s *Service) ProveYesterday(ctx context.Context) error {
	now := s.Clock.Now().UTC()
	midnight := now.Truncate(24 * time.Hour)
	if now.Sub(midnight) < proofDelay {
		return nil
	}
	last, day, err := s.Proofs.RailProofs(ports.ForAllPlatforms(ctx))
	if err != nil || len(last) > 0 && !day.Before(midnight.Add(-24*time.Hour)) {
		return err
	}
	_, err = s.Prove(ctx, midnight)
	return err
}

func (s *Service) productionPlatforms(ctx context.Context) ([]ident.Platform, error) {
	var found []ident.Platform
	for p, err := range ports.AllPlatforms(ctx, s.Store) {
		if err != nil {
			return nil, err
		}
		if p.Environment == platform.Production {
			found = append(found, p.ID)
		}
	}
	return found, nil
}

// prove compares one group of connections.
func (s *Service) prove(ctx context.Context, g rail.Group, connections []rail.Connection, at time.Time) (rail.Proof, error) {
	p := rail.Proof{Connections: g.Connections, Currency: g.Currency, ProvedAt: s.Clock.Now()}
	var missing []string
	for _, c := range connections {
		if !slices.Contains(g.Connections, c.Name) {
			continue
		}
		known, err := s.addBalance(ctx, &p, c, at)
		if err != nil {
			return p, err
		}
		if !known && c.Retired {
			missing = append(missing, c.Name+" since it was retired; if its partner reports none, set it with: causeway rails balance "+
				c.Name+" --set")
		} else if !known {
			missing = append(missing, c.Name)
		}
	}
	if len(missing) > 0 {
		p.State, p.Problem = rail.NoBalance, "no balance of "+strings.Join(missing, ", ")
		return p, nil
	}
	if p.To.IsZero() { // all that is left is what retired connections held at the end
		p.From, p.To = at, at
	}
	var err error
	if p.LedgerFrom, err = s.ledgerAt(ctx, g, p.From); err != nil {
		return p, err
	}
	if p.LedgerTo = p.LedgerFrom; !p.To.Equal(p.From) {
		if p.LedgerTo, err = s.ledgerAt(ctx, g, p.To); err != nil {
			return p, err
		}
	}
	if p.Out, p.In, err = s.Proofs.RailInFlight(ctx, g.Connections, g.Currency, p.From, p.To); err != nil {
		return p, err
	}
	if p = p.Concluded(); p.State == rail.Different {
		err = s.addSuspects(ctx, &p)
	}
	return p, err
}

// addBalance adds the last balance of a connection, and returns false if it has none. That of a retired connection whose
// partner reports no more is the one with which it ended, however old it is: it moves the times of the proof no more. A connection
// that was never tested or has carried nothing need not have one.
func (s *Service) addBalance(ctx context.Context, p *rail.Proof, c rail.Connection, at time.Time) (known bool, err error) {
	balances, err := s.Balances.RailBalancesAt(ctx, c.Name, at)
	if err != nil {
		return false, err
	}
	for _, b := range balances {
		if b.Amount.Currency != p.Currency || at.Sub(b.At) > maxBalanceAge {
			continue
		}
		known = true
		p.Partners = p.Partners.Add(money.TotalOf(b.Amount.Minor))
		if p.From.IsZero() || b.At.Before(p.From) {
			p.From = b.At
		}
		if b.At.After(p.To) {
			p.To = b.At
		}
	}
	if known || c.TakesNew() {
		return known, nil
	}
	accounts, err := s.Store.RailAccounts(ctx, c.Name, at)
	if err != nil {
		return false, err
	}
	for _, a := range accounts {
		if a.Currency != p.Currency {
			continue
		}
		if !c.Retired || a.BalanceAt.Before(c.SetAt) || a.BalanceAt.After(at) {
			return false, nil
		}
		p.Partners = p.Partners.Add(money.TotalOf(a.Balance))
	}
	return true, nil
}

// ledgerAt returns the sum of the ledger accounts of a group at a moment, by effective time: a payment that a partner
// reported late counts when it was made.
func (s *Service) ledgerAt(ctx context.Context, g rail.Group, moment time.Time) (money.Total, error) {
	var sum money.Total
	for _, a := range g.Accounts {
		found, err := s.Finance.AccountsAtCutoff(ctx, a.Platform, a.Path, g.Currency, ports.Cutoff{By: ports.ByEffective, Moment: moment})
		if err != nil {
			return sum, err
		}
		for _, account := range found {
			sum = sum.Add(account.Balance)
		}
	}
	return sum, nil
}

func (s *Service) addSuspects(ctx context.Context, p *rail.Proof) error {
	minor, small := p.Difference.Minor()
	if !small {
		return nil
	}
	found, err := s.Proofs.RailPaymentsOfAmount(ctx, p.Connections, money.Amount{Minor: max(minor, -minor), Currency: p.Currency},
		p.From.Add(-suspectsSince), maxSuspects)
	for _, payment := range found {
		p.Suspects = append(p.Suspects, fmt.Sprintf("%s %s %s", rail.EndToEndID(payment.ID), payment.Kind, payment.State))
	}
	return err
}

// ErrNotProved is the error of a command whose proof has failed.
var ErrNotProved = errors.New("the ledger and the partners are not proved to agree; docs/rails.md says what to do")

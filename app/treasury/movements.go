package treasury

import (
	"context"
	"time"

	"causeway/app/internal/foureyes"
	"causeway/app/internal/uow"
	"causeway/core/books"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/platform"
	"causeway/core/proposal"
	"causeway/core/safeguarding"
	"causeway/core/treasury"
	"causeway/ledger"
	"causeway/ports"
)

// Move posts a movement of money between accounts at partners, or makes a proposal of it. It is effective when
// requested if that month is open, and otherwise at the start of the first open month. Faults: INVALID_INPUT;
// CONFLICT if it would take customers' money beyond the excess, or an account below zero; those of foureyes.Run.
func (s *Service) Move(ctx context.Context, m treasury.Movement, request *ports.IdempotentRequest) (
	proposal.Outcome[treasury.Movement], error) {
	return foureyes.Run(ctx, s.foureyes(), s.movement(m.Kind), m.Platform, m.By, request, newMovementRequest(m))
}

// MoveAlone posts a movement of an operator, whatever the settings.
func (s *Service) MoveAlone(ctx context.Context, m treasury.Movement) (treasury.Movement, error) {
	done, err := foureyes.RunAlone(ctx, s.foureyes(), s.movement(m.Kind), m.Platform, m.By, nil, newMovementRequest(m))
	return done.Done, err
}

// movementOperations are the operations that post a movement.
var movementOperations = map[treasury.Kind]string{
	treasury.Sweep: "createSweep", treasury.Transfer: "createTreasuryTransfer", treasury.Settlement: "createTreasurySettlement",
}

func (s *Service) movement(kind treasury.Kind) foureyes.Operation[Tx, movementRequest, treasury.Movement] {
	return foureyes.Operation[Tx, movementRequest, treasury.Movement]{ID: movementOperations[kind], Action: books.ActionTreasury,
		Execute: func(ctx context.Context, tx Tx, c foureyes.Change, r movementRequest) (treasury.Movement, string, error) {
			m, err := s.move(ctx, tx, c, r.movement(c.Platform, kind))
			return m, m.ID.String(), err
		}}
}

// movementRequest is the stored form of a movement.
type movementRequest struct {
	From           string         `json:"from"`
	To             string         `json:"to"`
	Currency       money.Currency `json:"currency"`
	Amount         int64          `json:"amount"`
	BoughtCurrency money.Currency `json:"boughtCurrency,omitempty"`
	BoughtAmount   int64          `json:"boughtAmount,omitempty"`
	InTransit      bool           `json:"inTransit,omitempty"`
	AllowOverdraft bool           `json:"allowOverdraft,omitempty"`
	Note           string         `json:"note,omitempty"`
	Effective      time.Time      `json:"effectiveAt,omitzero"`
}

func newMovementRequest(m treasury.Movement) movementRequest {
	return movementRequest{m.From, m.To, m.Amount.Currency, m.Amount.Minor, m.Bought.Currency, m.Bought.Minor, m.InTransit, m.AllowOverdraft,
		m.Note, m.Effective}
}

func (r movementRequest) movement(p ident.Platform, kind treasury.Kind) treasury.Movement {
	return treasury.Movement{Platform: p, Kind: kind, From: r.From, To: r.To, Amount: money.Amount{Minor: r.Amount, Currency: r.Currency},
		Bought: money.Amount{Minor: r.BoughtAmount, Currency: r.BoughtCurrency}, InTransit: r.InTransit, AllowOverdraft: r.AllowOverdraft,
		Note: r.Note, Effective: r.Effective}
}

func (s *Service) move(ctx context.Context, tx Tx, c foureyes.Change, m treasury.Movement) (treasury.Movement, error) {
	if err := tx.LockSafeguarding(ctx, m.Platform); err != nil {
		return m, err
	}
	purposes, _, err := s.purposes(ctx, m.Platform)
	if err != nil {
		return m, err
	}
	if bad := m.Check(purposes, c.At); len(bad) > 0 {
		return m, fault.Invalid(bad...)
	}
	m.ID.SetUUID(c.ID)
	m.Posting, m.At, m.By, m.Approval = c.ID, c.At, c.By, c.Approval
	if m.Effective.IsZero() {
		m.Effective = c.At
	}
	m.Effective = m.Effective.Truncate(time.Microsecond)
	posting := m.PostingFor(purposes)
	if err := s.checkClientMoney(ctx, purposes, posting, c.At); err != nil {
		return m, err
	}
	assets, err := s.checkAssets(ctx, posting, m.AllowOverdraft)
	if err != nil {
		return m, err
	}
	changed, err := s.changesOf(ctx, m.Platform, assets)
	if err != nil {
		return m, err
	}
	if err := s.announce(ctx, tx, changed); err != nil {
		return m, err
	}
	if err := tx.CreateMovement(ctx, m); err != nil {
		return m, err
	}
	return m, s.post(ctx, tx, c, posting)
}

// Arrive posts the arrival of a transfer in transit, once, or makes a proposal of it. Faults: NOT_FOUND; INVALID_INPUT;
// CONFLICT, also if money of customers would arrive in an account that has become the company's own meanwhile;
// those of foureyes.Run.
func (s *Service) Arrive(ctx context.Context, p ident.Platform, id ident.Movement, by platform.Author, effective time.Time,
	request *ports.IdempotentRequest) (proposal.Outcome[treasury.Movement], error) {
	return foureyes.Run(ctx, s.foureyes(), s.arrival(), p, by, request, arrivalRequest{id, effective})
}

// ArriveAlone posts an arrival for an operator, whatever the settings.
func (s *Service) ArriveAlone(ctx context.Context, p ident.Platform, id ident.Movement, by platform.Author,
	effective time.Time) (treasury.Movement, error) {
	done, err := foureyes.RunAlone(ctx, s.foureyes(), s.arrival(), p, by, nil, arrivalRequest{id, effective})
	return done.Done, err
}

// arrivalRequest is the stored form of an arrival.
type arrivalRequest struct {
	Movement  ident.Movement `json:"movementId"`
	Effective time.Time      `json:"effectiveAt,omitzero"`
}

func (s *Service) arrival() foureyes.Operation[Tx, arrivalRequest, treasury.Movement] {
	return foureyes.Operation[Tx, arrivalRequest, treasury.Movement]{ID: "arriveTreasuryTransfer", Action: books.ActionTreasury,
		Execute: func(ctx context.Context, tx Tx, c foureyes.Change, r arrivalRequest) (treasury.Movement, string, error) {
			m, err := s.arrive(ctx, tx, c, r)
			return m, r.Movement.String(), err
		}}
}

func (s *Service) arrive(ctx context.Context, tx Tx, c foureyes.Change, r arrivalRequest) (treasury.Movement, error) {
	m, found, err := tx.LockMovement(ctx, c.Platform, r.Movement)
	if err != nil {
		return m, err
	}
	if !found {
		return m, movementNotFound(r.Movement)
	}
	arrival := treasury.Arrival{Posting: c.ID, Effective: r.Effective.Truncate(time.Microsecond), At: c.At, By: c.By, Approval: c.Approval}
	if r.Effective.IsZero() {
		arrival.Effective = c.At
	}
	if err := m.CheckArrival(arrival.Effective, c.At); err != nil {
		return m, err
	}
	sent, found, err := s.Balances.Posting(ctx, c.Platform, m.Posting)
	if err != nil || !found {
		return m, postingMissing(m, err)
	}
	m.Arrival = &arrival
	if err := tx.RecordArrival(ctx, m); err != nil {
		return m, err
	}
	purposes, _, err := s.purposes(ctx, c.Platform)
	if err != nil {
		return m, err
	}
	posting := m.ArrivalPosting(arrival, sent)
	if err := s.checkClientMoney(ctx, purposes, posting, c.At); err != nil {
		return m, err
	}
	return m, s.post(ctx, tx, c, posting)
}

func (s *Service) post(ctx context.Context, tx Tx, c foureyes.Change, posting ledger.Posting) error {
	work := uow.NewWork(c.At, s.IDs, 0)
	work.Post(posting)
	return work.Write(ctx, tx)
}

// checkClientMoney checks what a posting takes out of accounts with customers' money: at most the confirmed excess, now and, if
// it is effective earlier, at that time.
func (s *Service) checkClientMoney(ctx context.Context, purposes safeguarding.Purposes, posting ledger.Posting, now time.Time) error {
	for _, out := range treasury.ClientMoneyOut(purposes, posting) {
		if err := s.checkOut(ctx, posting.Platform, purposes, out, now); err != nil {
			return err
		}
		if !posting.Effective.Before(now) {
			continue
		}
		figures, err := s.figuresAt(ctx, posting.Platform, purposes, posting.Effective)
		if err != nil {
			return err
		}
		if err := treasury.CheckExcess(out, safeguarding.OwnFundsOf(figures, out.Currency), posting.Effective); err != nil {
			return err
		}
		if err := s.checkConfirmed(ctx, posting.Platform, purposes, out, figures, posting.Effective); err != nil {
			return err
		}
	}
	return nil
}

// checkOut checks that an amount can leave the accounts with customers' money now.
func (s *Service) checkOut(ctx context.Context, p ident.Platform, purposes safeguarding.Purposes, out money.Amount, now time.Time) error {
	figures, err := s.ownFunds(ctx, p, purposes, out.Currency)
	if err != nil {
		return err
	}
	if err := treasury.CheckExcess(out, safeguarding.OwnFundsOf(figures, out.Currency), time.Time{}); err != nil {
		return err
	}
	return s.checkConfirmed(ctx, p, purposes, out, figures, now)
}

// checkAssets checks what a posting takes out of each asset. It returns the assets with their balances after the
// posting.
func (s *Service) checkAssets(ctx context.Context, posting ledger.Posting, allowOverdraft bool) ([]ports.LedgerAccount, error) {
	var assets []ports.LedgerAccount
	changes, err := ledger.NetChanges(posting)
	if err != nil {
		return nil, err
	}
	for _, change := range changes {
		line, err := ledger.FindChartLine(change.Account.Path)
		if err != nil {
			return nil, err
		}
		if line.Class != ledger.Asset {
			continue
		}
		balances, err := s.Balances.Balances(ctx, []ledger.Account{change.Account})
		if err != nil {
			return nil, err
		}
		before := balances[change.Account]
		after, err := money.AddMinor(before, change.Amount)
		if err != nil {
			return nil, fault.New(fault.InvalidAmount, "The balance of %s would exceed the maximum of an account.", change.Account.Path)
		}
		if err := treasury.CheckOverdraft(change.Account, before, after, allowOverdraft); err != nil {
			return nil, err
		}
		assets = append(assets, ports.LedgerAccount{Account: change.Account, Class: line.Class, Balance: money.TotalOf(after)})
	}
	return assets, nil
}

// ownFunds returns what the accounts with customers' money hold, and what of it is not owed, in one currency or, if it is empty, in
// each. That is the company's own money in them, so the balances of customers need not be read.
func (s *Service) ownFunds(ctx context.Context, p ident.Platform, purposes safeguarding.Purposes,
	currency money.Currency) ([]safeguarding.Figures, error) {
	accounts, err := s.Ledger.CurrentBalances(ctx, p, safeguarding.OwnFundsPrefixes(), currency)
	if err != nil {
		return nil, tooSlow(err)
	}
	counter := safeguarding.NewCounter(purposes)
	for _, a := range accounts {
		if err := counter.Add(a.Account.Path, a.Account.Currency, a.Balance); err != nil {
			return nil, err
		}
	}
	return counter.Figures(), nil
}

// figuresAt returns the comparison of a past moment, by effective time. It reads every account.
func (s *Service) figuresAt(ctx context.Context, p ident.Platform, purposes safeguarding.Purposes,
	at time.Time) ([]safeguarding.Figures, error) {
	counter := safeguarding.NewCounter(purposes)
	_, err := s.Ledger.BalancesAt(ctx, p, at, func(a ports.LedgerAccount) error {
		return counter.Add(a.Account.Path, a.Account.Currency, a.Balance)
	})
	return counter.Figures(), tooSlow(err)
}

// checkReclassified returns CONFLICT if an account with customers' money can not become the company's own,
// because less would be held than is owed, or more would leave than is confirmed.
func (s *Service) checkReclassified(ctx context.Context, p ident.Platform, purposes safeguarding.Purposes, path string,
	now time.Time) error {
	if purpose, _ := purposes.Of(path); purpose == safeguarding.Own {
		return nil
	}
	balances, err := s.Ledger.AccountsAtCutoff(ctx, p, path, "", ports.Cutoff{})
	if err != nil {
		return err
	}
	for _, b := range balances {
		if b.Balance.Sign() <= 0 {
			continue
		}
		figures, err := s.ownFunds(ctx, p, purposes, b.Account.Currency)
		if err != nil {
			return err
		}
		minor, fits := b.Balance.Minor()
		if excess := safeguarding.OwnFundsOf(figures, b.Account.Currency); !fits || excess.Sub(b.Balance).Sign() < 0 {
			return treasury.MoneyOfCustomers(b.Account, b.Balance, excess)
		}
		if err := s.checkConfirmed(ctx, p, purposes, money.Amount{Minor: minor, Currency: b.Account.Currency}, figures, now); err != nil {
			return err
		}
	}
	return nil
}

// Movement returns a movement. Fault: NOT_FOUND.
func (s *Service) Movement(ctx context.Context, p ident.Platform, id ident.Movement) (treasury.Movement, error) {
	m, found, err := s.Store.Movement(ctx, p, id)
	if err == nil && !found {
		err = movementNotFound(id)
	}
	return m, err
}

// Movements returns a page of movements.
func (s *Service) Movements(ctx context.Context, p ident.Platform, f ports.MovementFilter) (ports.Page[treasury.Movement], error) {
	return s.Store.Movements(ctx, p, f)
}

func movementNotFound(id ident.Movement) error {
	return fault.New(fault.NotFound, "No movement has the id %s. List them with GET /ledger/treasury/movements.", id)
}

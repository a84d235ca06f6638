package payments

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/corridor"
	"causeway/core/ident"
	"causeway/core/money"
	"causeway/core/rail"
	"causeway/ledger"
	"causeway/ports"
)

// take passes on a piece of a feed. It returns an error if the piece has to be read again.
func (f *Feeds) take(ctx context.Context, c ports.LiveConnection, report ports.RailReport, failures int) error {
	ctx, cancel := context.WithTimeout(ctx, feedTakeTimeout)
	defer cancel()
	p, err := f.newPiece(ctx, c, failures)
	if err != nil {
		return err
	}
	err = f.takeReport(ctx, p, report)
	return errors.Join(err, f.keepAside(ctx, p))
}

func (f *Feeds) newPiece(ctx context.Context, c ports.LiveConnection, failures int) (*piece, error) {
	platforms, err := f.platformsOf(ctx, c)
	return &piece{LiveConnection: c, platforms: platforms, givesUp: failures >= maxPieceFailures}, err
}

// takeReport passes on what was reported: money received before what takes it back.
func (f *Feeds) takeReport(ctx context.Context, p *piece, report ports.RailReport) error {
	if err := f.takeRaw(p, report.Raw); err != nil {
		return err
	}
	if err := f.takeReceipts(ctx, p, report.Receipts); err != nil {
		return err
	}
	if err := f.takeReversals(ctx, p, report.Reversals); err != nil {
		return err
	}
	if err := f.takeFees(ctx, p, report.Fees); err != nil {
		return err
	}
	if err := f.takeStatements(ctx, p, report.Statements); err != nil {
		return err
	}
	if err := f.takeBalances(ctx, p, report.Balances); err != nil {
		return err
	}
	if err := f.takeContradictions(p, report.Contradictions); err != nil {
		return err
	}
	if err := f.takeAddresses(ctx, p, report.Addresses); err != nil {
		return err
	}
	if len(report.Changed) == 0 || f.CallAgain == nil {
		return nil
	}
	return f.CallAgain(ctx, report.Changed)
}

// orUnmatched returns a platform or, if it is zero, the one for unmatched money of the connection; zero if there is none.
func (p *piece) orUnmatched(of ident.Platform) ident.Platform {
	switch {
	case !of.IsZero():
		return of
	case p.Unmatched.IsZero() && len(p.platforms) == 1:
		return p.platforms[0]
	default:
		return p.Unmatched
	}
}

// checkPlatform returns why something is not of a platform that the partner names: it is none of the connection's.
func (p *piece) checkPlatform(of ident.Platform) error {
	if of.IsZero() || slices.Contains(p.platforms, of) {
		return nil
	}
	return reject("the partner names the platform %s, which the connection does not serve: add it to the platforms of the connection, if "+
		"that is right", of)
}

// checkMoney returns why an amount on a rail cannot be posted.
func checkMoney(on corridor.Rail, amount money.Amount, at time.Time) error {
	switch {
	case !on.Known():
		return reject("%q is not a rail", string(on))
	case !amount.Currency.Known():
		return reject("%.8q is not a known currency", string(amount.Currency))
	case amount.Minor == 0 || amount.Minor > money.MaxMinor || amount.Minor < -money.MaxMinor:
		return reject("the amount %d is not possible", amount.Minor)
	case at.IsZero():
		return reject("it has no time")
	}
	return nil
}

// takeFees posts fees, each in a unit of work of its own if those of the piece cannot be posted together.
func (f *Feeds) takeFees(ctx context.Context, p *piece, fees []ports.RailFee) error {
	now := f.service.Clock.Now()
	var valid []rail.Fee
	for _, reported := range fees {
		fee := reported
		fee.Platform = p.orUnmatched(fee.Platform)
		err := checkMoney(fee.Rail, fee.Amount, fee.At)
		foreign := p.checkPlatform(reported.Platform)
		switch {
		case err != nil:
		case foreign != nil:
			fee.Platform, err = ident.Platform{}, foreign
		case fee.PartnerID == "":
			err = reject("it has no id of the partner")
		case fee.Platform.IsZero():
			err = rejected{errNoPlatform}
		default:
			valid = append(valid, rail.Fee(fee))
			continue
		}
		if err := p.failed(now, f.feeItem(rail.Fee(fee)), reported, err); err != nil {
			return err
		}
	}
	if f.postFees(ctx, valid) == nil {
		return nil
	}
	for _, fee := range valid {
		err := f.postFees(ctx, []rail.Fee{fee})
		if errors.Is(err, ledger.ErrConflict) {
			err = f.compareFee(ctx, p, fee)
		}
		if err != nil {
			if err := p.failed(now, f.feeItem(fee), fee, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// compareFee compares a fee with the one that is posted with its id. If it says otherwise, a person has to ask which is right.
func (f *Feeds) compareFee(ctx context.Context, p *piece, fee rail.Fee) error {
	posted, found, err := f.Ledger.RecordedPosting(ctx, fee.Platform, fee.Posting().ID)
	switch {
	case err != nil:
		return err
	case !found: // its month is archived
		return reject("a fee with this id of the partner is posted with other content: ask the partner which is right")
	}
	c, differs := fee.Compare(posted.Posting)
	if !differs {
		return nil
	}
	return f.takeContradictions(p, []rail.Contradiction{c})
}

func (f *Feeds) feeItem(fee rail.Fee) ports.RailFeedItem {
	return ports.RailFeedItem{ID: f.service.IDs.New(f.service.Clock.Now()), Platform: fee.Platform, Kind: ports.RailFeedFee,
		Key: string(fee.Rail) + "/" + fee.PartnerID}
}

func (f *Feeds) postFees(ctx context.Context, fees []rail.Fee) error {
	byPlatform := map[ident.Platform][]rail.Fee{}
	for _, fee := range fees {
		byPlatform[fee.Platform] = append(byPlatform[fee.Platform], fee)
	}
	for _, of := range byPlatform {
		err := ports.Do(ctx, f.service.Store, func(ctx context.Context, tx Tx) error {
			work := uow.NewWork(f.service.Clock.Now(), f.service.IDs, 0)
			for _, fee := range of {
				work.Post(fee.Posting())
			}
			return work.Write(ctx, tx)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// takeAddresses stores how embedded wallets are paid into.
func (f *Feeds) takeAddresses(ctx context.Context, p *piece, addresses []ports.WalletAddress) error {
	byPlatform := map[ident.Platform]map[ports.ReferenceKey]account.Instruction{}
	for _, a := range addresses {
		if p.checkPlatform(a.Platform) != nil || a.Platform.IsZero() {
			continue
		}
		if byPlatform[a.Platform] == nil {
			byPlatform[a.Platform] = map[ports.ReferenceKey]account.Instruction{}
		}
		byPlatform[a.Platform][ports.ReferenceKey{Platform: a.Platform, Reference: a.Reference}] = a.Instruction
	}
	for _, instructions := range byPlatform {
		accounts, err := f.service.Store.InternalAccountsByReference(ctx, slices.Collect(maps.Keys(instructions)))
		if err != nil {
			return err
		}
		var instructed []account.Internal
		for key, a := range accounts {
			if a.Type == account.EmbeddedWallet {
				a.Instructions, a.UpdatedAt = []account.Instruction{instructions[key]}, f.service.Clock.Now()
				instructed = append(instructed, a)
			}
		}
		if err := ports.Do(ctx, f.service.Store, func(ctx context.Context, tx Tx) error {
			return uow.StoreInstructions(ctx, tx, f.service.IDs.New, instructed, tx.ReplaceFundingInstructions)
		}); err != nil {
			return err
		}
	}
	return nil
}

// takeBalances stores balances. One of an unknown currency is of no use, and is logged.
func (f *Feeds) takeBalances(ctx context.Context, p *piece, balances []ports.RailBalance) error {
	known := make([]ports.RailBalance, 0, len(balances))
	for _, b := range balances {
		if !b.Amount.Currency.Known() || b.At.IsZero() {
			f.service.Log.WithField("connection", p.Name).Errorf("a partner reported a balance in the currency %.8q at %s, which is not possible",
				string(b.Amount.Currency), b.At)
			continue
		}
		known = append(known, b)
	}
	return f.Balances.SaveRailBalances(ctx, p.Name, known)
}

// takeStatements queues statements to be reconciled.
func (f *Feeds) takeStatements(ctx context.Context, p *piece, statements []ports.RailStatement) error {
	now := f.service.Clock.Now()
	for _, s := range statements {
		queued := ports.QueuedStatement{ID: f.service.IDs.New(now), Platform: p.orUnmatched(ident.Platform{}),
			Connection: p.Name, RailStatement: s,
			Accounts: p.Settings[rail.SettingStatementAccounts], ReceivedAt: now}
		if queued.Accounts == "" && len(p.Rails) == 1 && len(p.Currencies) == 1 {
			queued.Account, queued.Currency = p.Rails[0].LedgerPath(), string(p.Currencies[0])
		}
		err := error(rejected{errNoPlatform})
		if !queued.Platform.IsZero() {
			err = f.Statements.QueueRailStatement(ctx, queued)
		}
		if err != nil {
			item := ports.RailFeedItem{ID: queued.ID, Platform: queued.Platform, Kind: ports.RailFeedStatement}
			if err := p.failed(now, item, s, err); err != nil {
				return err
			}
		}
	}
	return nil
}

// takeContradictions keeps what the adapter could not reconcile with what it has recorded, for a person to close.
func (f *Feeds) takeContradictions(p *piece, contradictions []rail.Contradiction) error {
	now := f.service.Clock.Now()
	for _, c := range contradictions {
		item, err := uow.ContradictionItem(f.service.IDs.New(now), p.Name, c, now)
		if err != nil {
			return err
		}
		p.aside = append(p.aside, item)
	}
	return nil
}

package treasury

import (
	"context"
	"fmt"
	"time"

	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/treasury"
	"causeway/ledger"
	"causeway/ports"
)

// assets returns every asset of a platform with its present balance.
func (s *Service) assets(ctx context.Context, p ident.Platform) ([]ports.LedgerAccount, error) {
	var assets []ports.LedgerAccount
	balances, err := s.Ledger.CurrentBalances(ctx, p, []string{"asset/", "chains/", "own/", "partner-receivables/", "rails/",
		ledger.TransitClientMoney, ledger.TransitTreasury}, "")
	for _, b := range balances {
		if b.Class == ledger.Asset {
			assets = append(assets, b)
		}
	}
	return assets, err
}

// AnnounceOverdrafts compares the assets of the platforms of an environment with what was announced about them, and announces
// those that went below zero or are back. Every process calls it.
func (s *Service) AnnounceOverdrafts(ctx context.Context, environment platform.Environment) error {
	return s.eachPlatform(ctx, environment, func(ctx context.Context, p platform.Platform) error {
		changed, err := s.overdraftChanges(ctx, p.ID)
		if err != nil || len(changed) == 0 {
			return err
		}
		return ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
			if err := tx.LockSafeguarding(ctx, p.ID); err != nil {
				return err
			}
			// Another process may have announced them meanwhile.
			changed, err := s.overdraftChanges(ctx, p.ID)
			if err != nil {
				return err
			}
			return s.announce(ctx, tx, changed)
		})
	})
}

// announce stores and sends what is to be announced.
func (s *Service) announce(ctx context.Context, tx Tx, changed []treasury.Overdraft) error {
	if len(changed) == 0 {
		return nil
	}
	events := make([]event.Event, len(changed))
	for i, o := range changed {
		name := event.LedgerAssetCovered
		if o.Overdrawn {
			name = event.LedgerAssetOverdrawn
		}
		events[i] = event.Event{ID: ident.NewWebhook(s.IDs.New, o.NotifiedAt), Platform: o.Account.Platform, Type: event.LedgerAsset, Name: name,
			Subject: subjectOf(o.Account.Platform), OccurredAt: o.NotifiedAt, Resource: o}
	}
	if err := tx.SaveOverdrafts(ctx, changed); err != nil {
		return err
	}
	return tx.Emit(ctx, events)
}

// overdraftChanges returns what is to be announced about the assets of a platform.
func (s *Service) overdraftChanges(ctx context.Context, p ident.Platform) ([]treasury.Overdraft, error) {
	assets, err := s.assets(ctx, p)
	if err != nil {
		return nil, err
	}
	return s.changesOf(ctx, p, assets)
}

// changesOf returns what is to be announced about some assets of a platform with these balances.
func (s *Service) changesOf(ctx context.Context, p ident.Platform, assets []ports.LedgerAccount) (changed []treasury.Overdraft, err error) {
	known, err := s.Store.Overdrafts(ctx, p)
	if err != nil {
		return nil, err
	}
	announced := map[ledger.Account]treasury.Overdraft{}
	for _, o := range known {
		announced[o.Account] = o
	}
	now := s.Clock.Now().Truncate(time.Microsecond)
	for _, a := range assets {
		o := announced[a.Account]
		o.Account = a.Account
		if next, announce := o.Next(a.Balance, now); announce {
			changed = append(changed, next)
		}
	}
	return changed, nil
}

func postingMissing(m treasury.Movement, err error) error {
	if err != nil {
		return err
	}
	return fmt.Errorf("movement %s: its posting %s is missing", m.ID, m.Posting)
}

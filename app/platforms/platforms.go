// Package platforms is what a platform is to the service: its settings, the tokens
// by which its programs prove who they are, and what was answered to requests that
// may be repeated.
//
// It never moves money, and never keeps a secret: of a token's secret only its
// SHA-256 is stored.
package platforms

import (
	"context"
	"time"

	"causeway/core/account"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// Config is what the use cases need.
type Config struct {
	Store ports.Store
	Clock ports.Clock
	IDs   ports.IDs
	// Rails say how accounts are paid into; nobody does where none is connected.
	Rails ports.RailsByEnvironment
	// Committed is called after each commit that told events; nil for nobody.
	Committed func()
	// SettingsChanged is called after each change of a platform's settings; nil for nobody.
	SettingsChanged func()
}

// Service are the use cases.
type Service struct{ Config }

// New returns the use cases.
func New(c Config) *Service { return &Service{c} }

// CreateRequest is what is needed for a new platform.
type CreateRequest struct {
	Name        string
	Environment platform.Environment
	// Regulated platforms answer for their customers' identity themselves.
	Regulated bool
}

// Created is a new platform and its first token. Secret is told this once.
type Created struct {
	Platform platform.Platform
	IssuedToken
}

// Create founds a platform: with the default currencies, an account of its own in
// each, and a token that may do everything. It is the operator's to call.
func (p *Service) Create(ctx context.Context, f CreateRequest) (Created, error) {
	now := p.Clock.Now()
	made, err := platform.New(ident.NewPlatform(p.IDs.New, now), f.Name, f.Environment, f.Regulated, now)
	if err != nil {
		return Created{}, err
	}
	token, err := p.newToken(made.ID, "First token", platform.Permissions, now)
	if err != nil {
		return Created{}, err
	}
	own, err := p.newOpening(made, now).Open(made.CurrencyCodes())
	if err != nil {
		return Created{}, err
	}
	err = p.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		if err := tx.CreatePlatform(ctx, made); err != nil {
			return err
		}
		if err := tx.CreateToken(ctx, token.Token); err != nil {
			return err
		}
		return tx.OpenInternalAccounts(ctx, own)
	})
	return Created{made, token}, err
}

// Settings reads the settings of the caller's platform.
func (p *Service) Settings(ctx context.Context, who platform.Principal) (platform.Platform, error) {
	if err := who.CheckPermission(platform.View); err != nil {
		return platform.Platform{}, err
	}
	return p.Store.Platform(ctx, who.Platform)
}

// UpdateSettings changes the settings given. In currencies that are new the platform gets an
// account of its own at once, and its customers get theirs soon after, however many
// they are; an endpoint that is new is sent a TEST event.
func (p *Service) UpdateSettings(ctx context.Context, who platform.Principal, change platform.Change) (platform.Platform, error) {
	if err := who.CheckPermission(platform.Manage); err != nil {
		return platform.Platform{}, err
	}
	now := p.Clock.Now()
	has, err := p.Store.InternalAccountsOf(ctx, who.Platform, []ident.Customer{{}})
	if err != nil {
		return platform.Platform{}, err
	}
	var after platform.Platform
	told := false
	err = p.Store.Do(ctx, func(ctx context.Context, tx ports.Tx) error {
		before, err := tx.LockPlatform(ctx, who.Platform)
		if err != nil {
			return err
		}
		if after, told, err = before.Apply(change, now); err != nil {
			return err
		}
		if err := tx.UpdatePlatform(ctx, after); err != nil {
			return err
		}
		if change.Currencies != nil {
			if err := p.openAccounts(ctx, tx, after, has[ident.Customer{}], now); err != nil {
				return err
			}
		}
		if !told {
			return nil
		}
		return tx.Emit(ctx, []event.Event{event.NewTest(ident.NewWebhook(p.IDs.New, now), after.ID, now)})
	})
	if err != nil {
		return platform.Platform{}, err
	}
	if told && p.Committed != nil {
		p.Committed()
	}
	if p.Config.SettingsChanged != nil {
		p.Config.SettingsChanged()
	}
	return after, nil
}

// openAccounts opens what the platform itself lacks, and has its customers seen to.
func (p *Service) openAccounts(ctx context.Context, tx ports.Tx, of platform.Platform, has []account.Internal, now time.Time) error {
	opened, instructed, err := p.newOpening(of, now).OpenMissing(of.CurrencyCodes(), has)
	if err != nil {
		return err
	}
	if err := tx.OpenInternalAccounts(ctx, opened); err != nil {
		return err
	}
	if err := tx.AddFundingInstructions(ctx, instructed); err != nil {
		return err
	}
	return tx.AddJobs(ctx, []ports.Job{{ID: p.IDs.New(now), Platform: of.ID, Step: ports.StepOpenAccounts, Due: now}})
}

// newOpening returns of the platform's own accounts.
func (p *Service) newOpening(of platform.Platform, now time.Time) account.Opener {
	return account.Opener{Platform: of.ID, Owner: of.Name, FundingInstructions: p.Rails.Funding(of.ID, of.Environment), NewID: p.IDs.New, Now: now}
}

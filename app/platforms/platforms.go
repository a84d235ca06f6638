// Package platforms manages platforms: their settings, their API tokens, and the stored
// responses to requests with an idempotency key.
//
// It never moves money, and stores only the SHA-256 hash of the secret of a token.
package platforms

import (
	"context"
	"iter"
	"time"

	"causeway/app/internal/prices"
	"causeway/app/internal/uow"
	"causeway/core/account"
	"causeway/core/event"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

// Config holds what the use cases need.
type Config struct {
	Store Store
	Clock ports.Clock
	IDs   ports.IDs
	// Rails provide the funding instructions of accounts. An account of an environment
	// without rails has none.
	Rails ports.RailsByEnvironment
	// Prices are read again after a change of a platform's limits; nil if no quotes are created
	// in this process.
	Prices *prices.Prices
	// AllowPrivateWebhooks lets sandbox platforms set webhook endpoints with private addresses.
	AllowPrivateWebhooks bool
	// Secrets seal the webhook secrets of a platform for its successor; nil where no platform is reset.
	Secrets Secrets
}

// Secrets encrypt webhook secrets.
type Secrets interface {
	// SealAgain returns a secret of a platform as it is stored for another one.
	SealAgain(s ports.SealedWebhookSecret, from, to ident.Platform) (ports.SealedWebhookSecret, error)
}

// Service implements the use cases.
type Service struct{ Config }

// New returns a Service.
func New(c Config) *Service { return &Service{c} }

// CreateRequest is a request to create a platform.
type CreateRequest struct {
	Name        string
	Environment platform.Environment
	// Regulated platforms verify the identity of their customers themselves.
	Regulated bool
	// Responsible is the person who answers for the first token; zero if nobody does.
	Responsible ident.Person
}

// Created is a new platform and its first token, with the secret.
type Created struct {
	Platform platform.Platform
	IssuedToken
}

// Create creates a platform with the default currencies, an internal account of its own in
// each, and a token with all permissions. Operators call it, not platforms.
func (s *Service) Create(ctx context.Context, r CreateRequest) (Created, error) {
	return s.create(ctx, r, func(context.Context, Tx, ident.Platform, time.Time) error { return nil })
}

// create creates a platform, and calls record in the same unit of work.
func (s *Service) create(ctx context.Context, r CreateRequest, record func(context.Context, Tx, ident.Platform, time.Time) error) (
	Created, error) {
	now := s.Clock.Now()
	created, err := platform.New(ident.NewPlatform(s.IDs.New, now), r.Name, r.Environment, r.Regulated, now)
	if err != nil {
		return Created{}, err
	}
	token, err := s.newToken(created.ID, "First token", platform.Permissions, now)
	if err != nil {
		return Created{}, err
	}
	token.Token.Creator = r.Responsible
	accounts, err := s.opener(created, now).Open(created.CurrencyCodes())
	if err != nil {
		return Created{}, err
	}
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		if err := tx.CreatePlatform(ctx, created); err != nil {
			return err
		}
		if err := tx.CreateToken(ctx, token.Token); err != nil {
			return err
		}
		if err := tx.OpenInternalAccounts(ctx, accounts); err != nil {
			return err
		}
		return record(ctx, tx, created.ID, now)
	})
	return Created{created, token}, err
}

// Settings returns the settings of a platform.
func (s *Service) Settings(ctx context.Context, platformID ident.Platform) (platform.Platform, error) {
	return s.Store.Platform(ctx, platformID)
}

// All returns all platforms, oldest first or, as the last one, an error. Operators call it, not platforms.
func (s *Service) All(ctx context.Context) iter.Seq2[platform.Platform, error] {
	return ports.AllPlatforms(ctx, s.Store)
}

// UpdateSettings changes the given settings. In a new currency, the platform gets an
// internal account at once; a job opens those of its customers. A new webhook endpoint is
// sent a TEST event. Who changes something is recorded.
func (s *Service) UpdateSettings(ctx context.Context, platformID ident.Platform, by platform.Author, change platform.Change) (
	platform.Platform, error) {
	now := s.Clock.Now()
	existing, err := s.Store.InternalAccountsOf(ctx, platformID, []ident.Customer{{}})
	if err != nil {
		return platform.Platform{}, err
	}
	var after platform.Platform
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		before, err := tx.LockPlatform(ctx, platformID)
		if err == nil {
			err = before.CheckOpen()
		}
		if err != nil {
			return err
		}
		change.AllowPrivateWebhooks = s.AllowPrivateWebhooks
		var endpointChanged bool
		if after, endpointChanged, err = before.Apply(change, now); err != nil {
			return err
		}
		if err := tx.UpdatePlatform(ctx, after); err != nil {
			return err
		}
		if changes := platform.ChangedSettings(before, after); len(changes) > 0 {
			if err := tx.RecordOperatorAction(ctx, platform.OperatorAction{ID: s.IDs.New(now), Platform: platformID,
				Kind: platform.OperatorUpdatedPlatform, Subject: platformID.UUID(), Actor: by.Name(), Person: by.Person, At: now,
				Changes: changes}); err != nil {
				return err
			}
		}
		if change.Currencies != nil {
			if err := s.openAccounts(ctx, tx, after, existing[ident.Customer{}], now); err != nil {
				return err
			}
		}
		if !endpointChanged {
			return nil
		}
		return tx.Emit(ctx, []event.Event{event.NewTest(ident.NewWebhook(s.IDs.New, now), after.ID, now)})
	})
	if err != nil {
		return platform.Platform{}, err
	}
	if s.Prices != nil {
		s.Prices.Invalidate()
	}
	return after, nil
}

// openAccounts opens the missing accounts of a platform, and enqueues the job that opens
// those of its customers.
func (s *Service) openAccounts(ctx context.Context, tx Tx, p platform.Platform, existing []account.Internal, now time.Time) error {
	opened, instructed, err := s.opener(p, now).OpenMissing(p.CurrencyCodes(), existing)
	if err != nil {
		return err
	}
	if err := tx.OpenInternalAccounts(ctx, opened); err != nil {
		return err
	}
	if err := uow.StoreInstructions(ctx, tx, s.IDs.New, instructed, tx.AddFundingInstructions); err != nil {
		return err
	}
	return tx.AddJobs(ctx, []ports.Job{{ID: s.IDs.New(now), Platform: p.ID, Step: ports.StepOpenAccounts, Due: now}})
}

// opener returns an Opener of the platform's own accounts.
func (s *Service) opener(p platform.Platform, now time.Time) account.Opener {
	return account.Opener{Platform: p.ID, Owner: p.Name, FundingInstructions: s.Rails.Funding(p.ID, p.Environment), NewID: s.IDs.New, Now: now}
}

package platforms

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/sca"
	"causeway/ports"
)

// Operator does what operators of the service do on the command line, for any platform. Each
// change is recorded with the operator's name.
type Operator struct {
	service *Service
	by      platform.Author
}

// As returns the use cases of an operator, or INVALID_INPUT without a name.
func (s *Service) As(by platform.Author) (*Operator, error) {
	by, err := by.Parsed()
	return &Operator{s, by}, err
}

// Record records what an operator is about to do that no use case records by itself: to see personal data, or to replace keys.
func (s *Service) Record(ctx context.Context, a platform.OperatorAction) error {
	return s.Store.RecordOperatorAction(ctx, a)
}

// CreatePlatform is Service.Create.
func (o *Operator) CreatePlatform(ctx context.Context, r CreateRequest) (Created, error) {
	r.Responsible = o.by.Person
	return o.service.create(ctx, r, func(ctx context.Context, tx Tx, p ident.Platform, now time.Time) error {
		return o.record(ctx, tx, p, platform.OperatorCreatedPlatform, p.UUID(), now)
	})
}

// OperatorChange is what only operators set; nil does not change a setting.
type OperatorChange struct {
	// Regulated says whether a platform is a regulated financial institution, which verifies its customers itself: its new customers are
	// approved. Present customers keep their status.
	Regulated *bool
	// SCARegions are the regions whose customers need strong customer authentication; a nil slice stands for those of the law.
	SCARegions *[]string
	// SCAPayments says whether the payments of these customers need a proof of their payer, and SCAExemptions which do not.
	SCAPayments   *bool
	SCAExemptions *sca.Exemptions
}

// Set changes what only operators set. Faults: NOT_FOUND, INVALID_INPUT, CONFLICT for a closed platform.
func (o *Operator) Set(ctx context.Context, p ident.Platform, change OperatorChange) (platform.Platform, error) {
	var changed platform.Platform
	err := ports.Do(ctx, o.service.Store, func(ctx context.Context, tx Tx) error {
		before, err := tx.LockPlatform(ctx, p)
		if err != nil {
			return err
		}
		changed = before
		if err := changed.CheckOpen(); err != nil {
			return err
		}
		var done []string
		if r := change.Regulated; r != nil && *r != changed.Regulated {
			changed.Regulated = *r
			done = append(done, fmt.Sprintf("regulated %t", *r))
		}
		if r := change.SCARegions; r != nil {
			regions, err := platform.ParseSCARegions(*r)
			if err != nil {
				return err
			}
			if (regions == nil) != (changed.SCARegions == nil) || !slices.Equal(regions, changed.SCARegions) {
				changed.SCARegions = regions
				if !changed.SCAPaymentsSince.IsZero() { // for regions that are new too, from now on
					changed.SCAPaymentsSince = o.service.Clock.Now()
				}
				done = append(done, "strong customer authentication for "+platform.SCARegionsText(regions))
			}
		}
		now := o.service.Clock.Now()
		if on := change.SCAPayments; on != nil && *on == changed.SCAPaymentsSince.IsZero() {
			if changed.SCAPaymentsSince = (time.Time{}); *on {
				changed.SCAPaymentsSince = now
			}
			done = append(done, fmt.Sprintf("strong customer authentication of payments %t", *on))
		}
		if e := change.SCAExemptions; e != nil && *e != changed.SCAExemptions {
			changed.SCAExemptions = *e
			done = append(done, "exemptions from strong customer authentication: "+cmp.Or(strings.Join(e.Names(), ", "), "none"))
		}
		if len(done) == 0 {
			return nil
		}
		changed.UpdatedAt = now
		if err := tx.UpdatePlatform(ctx, changed); err != nil {
			return err
		}
		return tx.RecordOperatorAction(ctx, platform.OperatorAction{ID: o.service.IDs.New(now), Platform: p,
			Kind: platform.OperatorUpdatedPlatform, Subject: p.UUID(), Name: strings.Join(done, ", "), Actor: o.by.Actor, Person: o.by.Person,
			At: now, Changes: platform.ChangedSettings(before, changed)})
	})
	return changed, err
}

// TokenOwner says by e-mail addresses whose a token is. It has at most one.
type TokenOwner struct {
	// Person is whom the token belongs to.
	Person string
	// Responsible is who answers for the token of a service. Default: the operator, if it has signed in.
	Responsible string
}

// CreateToken creates a token of a platform. Faults: NOT_FOUND, INVALID_INPUT, CONFLICT for a closed platform and for one with
// platform.MaxTokens.
func (o *Operator) CreateToken(ctx context.Context, p ident.Platform, name string, permissions []platform.Permission,
	of TokenOwner) (IssuedToken, error) {
	now := o.service.Clock.Now()
	issued, err := o.service.newToken(p, name, permissions, now)
	if err != nil {
		return IssuedToken{}, err
	}
	if of.Person != "" && of.Responsible != "" {
		return IssuedToken{}, fault.Invalid(fault.Field{Field: "responsible", Message: "must be left out for the token of a person, who " +
			"answers for it"})
	}
	err = ports.Do(ctx, o.service.Store, func(ctx context.Context, tx Tx) error {
		if err := lockRoom(ctx, tx, p, of.Person != ""); err != nil {
			return err
		}
		named, err := lockNamed(ctx, tx, cmp.Or(of.Person, of.Responsible))
		switch {
		case err != nil:
			return err
		case of.Person != "":
			issued.Token.Person = named
		case of.Responsible != "":
			issued.Token.Creator = named
		default:
			issued.Token.Creator = o.by.Person
		}
		if err := tx.CreateToken(ctx, issued.Token); err != nil {
			return err
		}
		return o.service.recordToken(ctx, tx, o.by, platform.OperatorCreatedToken, issued.Token)
	})
	return issued, err
}

// lockNamed returns the person with an address; zero for an empty one.
func lockNamed(ctx context.Context, tx Tx, email string) (ident.Person, error) {
	if email == "" {
		return ident.Person{}, nil
	}
	found, err := tx.LockPersonByEmail(ctx, person.NormalizeEmail(email))
	return found.ID, err
}

// SetResponsible names the person who answers for the token of a service. Faults: NOT_FOUND, TOKEN_NOT_FOUND; CONFLICT for the token
// of a person.
func (o *Operator) SetResponsible(ctx context.Context, p ident.Platform, id ident.Token, email string) (changed platform.Token, err error) {
	return changed, ports.Do(ctx, o.service.Store, func(ctx context.Context, tx Tx) error {
		tokens, err := tx.LockTokens(ctx, p)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(tokens, func(t platform.Token) bool { return t.ID == id })
		if i < 0 {
			return platform.TokenNotFound(id)
		}
		named, err := tx.LockPersonByEmail(ctx, person.NormalizeEmail(email))
		if err != nil {
			return err
		}
		now := o.service.Clock.Now()
		if changed, err = tokens[i].WithResponsible(named.ID, now); err != nil {
			return err
		}
		if err := tx.UpdateToken(ctx, changed); err != nil {
			return err
		}
		return tx.RecordOperatorAction(ctx, platform.OperatorAction{ID: o.service.IDs.New(now), Platform: p, Kind: platform.OperatorChangedToken,
			Subject: id.UUID(), Name: "responsible " + named.Email, Actor: o.by.Actor, Person: o.by.Person, At: now,
			Changes: platform.ChangedToken(tokens[i], changed)})
	})
}

// DeleteToken deletes a token of a platform. Faults: TOKEN_NOT_FOUND; CONFLICT for the last token
// with MANAGE.
func (o *Operator) DeleteToken(ctx context.Context, p ident.Platform, id ident.Token) error {
	return ports.Do(ctx, o.service.Store, func(ctx context.Context, tx Tx) error {
		return o.service.deleteToken(ctx, tx, p, o.by, id)
	})
}

// RevokeUMAKeys ends the use of keys that somebody else may have: those of a platform as a UMA provider, or, with the domain of another
// provider, those that are kept of that one. New ones are made, or read, for the next message. Faults: NOT_FOUND.
func (o *Operator) RevokeUMAKeys(ctx context.Context, p ident.Platform, domain string) error {
	return ports.Do(ctx, o.service.Store, func(ctx context.Context, tx Tx) error {
		if _, err := tx.LockPlatform(ctx, p); err != nil {
			return err
		}
		revoke := func() error { return tx.RevokeUMAKeys(ctx, p) }
		if domain != "" {
			revoke = func() error { return tx.ForgetUMAPeer(ctx, p, domain) }
		}
		if err := revoke(); err != nil {
			return err
		}
		now := o.service.Clock.Now()
		return tx.RecordOperatorAction(ctx, platform.OperatorAction{ID: o.service.IDs.New(now), Platform: p,
			Kind: platform.OperatorRevokedUMAKeys, Subject: p.UUID(), Name: domain, Actor: o.by.Actor, Person: o.by.Person, At: now})
	})
}

func (o *Operator) record(ctx context.Context, tx Tx, p ident.Platform, kind platform.OperatorActionKind, subject uuid.UUID,
	now time.Time) error {
	return tx.RecordOperatorAction(ctx, platform.OperatorAction{
		ID: o.service.IDs.New(now), Platform: p, Kind: kind, Subject: subject, Actor: o.by.Actor, Person: o.by.Person, At: now,
	})
}

package postgres_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/uma"
)

func TestPlatform_RoundTrip(t *testing.T) {
	t.Parallel()
	// Every setting of a platform is read as it was written, after creation and after a change.
	c := newEnv(t)
	written := newPlatform(t, "Whole & half, 'quoted' \"Ltd\" ?")
	written.Regulated, written.UMASubdomain = true, "sub"
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreatePlatform(ctx, written) })

	read, err := c.Platform(t.Context(), written.ID)
	if err != nil || !reflect.DeepEqual(read, written) {
		t.Fatalf("read %+v, %v\nwant %+v", read, err, written)
	}

	changed := written
	changed.WebhookEndpoint, changed.UMADomain = "https://example.com/hook?a='b'", "uma.example.com"
	changed.Currencies = []platform.Currency{{
		Code: "EUR", MinAmount: 1, MaxAmount: 9_000_000_000_000_000, Directions: []string{"OUTGOING"},
		RequiredCounterpartyFields: []platform.CounterpartyField{{Name: "FULL_NAME", Mandatory: true}, {Name: "EMAIL"}},
	}}
	changed.Wallets = &platform.Wallets{
		AppName: "Acme", CodeLength: 8, AlphanumericCodes: true, CodeLifetime: time.Minute, FromAddress: "a@example.com", FromName: "N",
		ReplyTo: "r@example.com",
		LogoURL: "https://example.com/l.png", PasskeyRPID: "example.com", PasskeyOrigins: []string{"https://example.com"},
		OAuthClientIDs: []string{"id"},
	}
	changed.UpdatedAt = noon.Add(time.Hour)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.UpdatePlatform(ctx, changed) })
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
		locked, err := tx.LockPlatform(ctx, written.ID)
		if !reflect.DeepEqual(locked, changed) {
			t.Errorf("locked %+v\nwant %+v", locked, changed)
		}
		return err
	})

	unknown := ident.NewPlatform(generator.New, noon)
	if _, err := c.Platform(t.Context(), unknown); !fault.Is(err, fault.NotFound) {
		t.Errorf("an unknown platform: %v", err)
	}
}

func TestLockPlatform_SerializesUpdates(t *testing.T) {
	t.Parallel()
	// The lock of a platform lasts until the commit, so no change is lost if many units of work
	// change what they have read.
	c := newEnv(t)
	const writers, changes = 4, 25
	done := make(chan error, writers)
	for range writers {
		go func() {
			for range changes {
				if err := c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
					p, err := tx.LockPlatform(ctx, c.platform.ID)
					if err != nil {
						return err
					}
					p.Currencies[0].MaxAmount++
					return tx.UpdatePlatform(ctx, p)
				}); err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	for range writers {
		if err := <-done; err != nil {
			t.Fatal(err)
		}
	}

	after, err := c.Platform(t.Context(), c.platform.ID)
	if want := c.platform.Currencies[0].MaxAmount + writers*changes; err != nil || after.Currencies[0].MaxAmount != want {
		t.Errorf("after %d changes: %d, %v; want %d", writers*changes, after.Currencies[0].MaxAmount, err, want)
	}
}

func TestPlatform_UMADomainIsUniqueInProduction(t *testing.T) {
	t.Parallel()
	// Of production platforms that take one UMA domain at the same time, one gets it. Sandbox platforms may have any. Platforms that had
	// the same before this was checked change all else, and get it back only when no other has it.
	c := newEnv(t)
	create := func(environment platform.Environment, domain string) (platform.Platform, error) {
		p := newPlatform(t, "A platform")
		p.Environment, p.UMADomain = environment, domain
		return p, c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return tx.CreatePlatform(ctx, p) })
	}
	update := func(p platform.Platform) error {
		return c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error { return tx.UpdatePlatform(ctx, p) })
	}
	inUse := func(err error) bool {
		f, is := fault.As(err)
		return is && f.Code == fault.Conflict && f.Reason == platform.UMADomainInUse
	}
	results := make(chan error)
	for range 8 {
		go func() {
			_, err := create(platform.Production, "one.example.com")
			results <- err
		}()
	}
	got := 0
	for range 8 {
		if err := <-results; err == nil {
			got++
		} else if !inUse(err) {
			t.Error(err)
		}
	}
	if got != 1 {
		t.Errorf("%d platforms have the domain", got)
	}
	for range 2 {
		if _, err := create(platform.Sandbox, "one.example.com"); err != nil {
			t.Error(err)
		}
	}

	other, err := create(platform.Production, "two.example.com")
	if err != nil {
		t.Fatal(err)
	}
	other.UMADomain = "one.example.com"
	if err := update(other); !inUse(err) {
		t.Errorf("changed to the domain of another: %v", err)
	}
	owner := connect(t, c.url)
	exec(t, owner, `ALTER TABLE platforms DISABLE TRIGGER platform_uma_domain_stays_unique`)
	exec(t, owner, `UPDATE platforms SET uma_domain = 'one.example.com' WHERE uma_domain = 'two.example.com'`)
	exec(t, owner, `ALTER TABLE platforms ENABLE TRIGGER platform_uma_domain_stays_unique`)
	other.WebhookEndpoint = "https://example.com/hooks"
	if err := update(other); err != nil {
		t.Errorf("another setting: %v", err)
	}
	if _, found, err := c.UMAPlatform(t.Context(), "one.example.com"); found || err != nil {
		t.Errorf("one of two is found: %v", err)
	}
	other.UMADomain = "three.example.com"
	if err := update(other); err != nil {
		t.Error(err)
	}
	if _, found, err := c.UMAPlatform(t.Context(), "one.example.com"); !found || err != nil {
		t.Errorf("the one that has it now: %v", err)
	}
	other.UMADomain = "one.example.com"
	if err := update(other); !inUse(err) {
		t.Errorf("changed back: %v", err)
	}
}

func TestRevokeUMAKeys_OfOnePlatformOnly(t *testing.T) {
	t.Parallel()
	// The keys of a platform and those that it keeps of others are deleted, and not those of another platform. Without any, nothing is
	// wrong.
	c := newEnv(t)
	both := []platform.Platform{c.platform, c.otherPlatform}
	for _, p := range both {
		pair := uma.KeyPair{ID: generator.New(noon), Number: 1, Platform: p.ID, Signing: []byte{1}, Encryption: []byte{2}, ActiveFrom: noon,
			CreatedAt: noon}
		if added, err := c.AddUMAKeys(t.Context(), pair); err != nil || !added {
			t.Fatal(err)
		}
		if err := c.SaveUMAPeer(t.Context(), p.ID, uma.PeerKeys{Domain: "pay.example.com", Signing: []byte{1}, Encryption: []byte{2},
			Until: noon}); err != nil {
			t.Fatal(err)
		}
	}

	for range 2 {
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
			if err := tx.RevokeUMAKeys(ctx, c.platform.ID); err != nil {
				return err
			}
			return tx.ForgetUMAPeer(ctx, c.platform.ID, "pay.example.com")
		})
	}

	for i, p := range both {
		ring, err := c.UMAKeys(t.Context(), p.ID)
		_, kept, errPeer := c.UMAPeer(t.Context(), p.ID, "pay.example.com")
		if err != nil || errPeer != nil || len(ring) != i || kept != (i == 1) {
			t.Errorf("platform %d has %d key pairs, and keeps those of the other: %t; %v, %v", i, len(ring), kept, err, errPeer)
		}
	}
}

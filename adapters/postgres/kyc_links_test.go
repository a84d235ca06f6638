package postgres_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/core/fault"
	"causeway/core/verification"
)

func TestKYCLink_RoundTrip(t *testing.T) {
	t.Parallel()
	// A link is found by its token, and once it is opened by its session, on its platform only.
	c := newEnv(t)
	business := c.newBusiness(t, "acme")
	link := verification.Link{ID: generator.New(noon), Platform: c.platform.ID, Customer: business.ID, RedirectURI: "https://example.com",
		TokenHash: verification.SecretHash{1}, CreatedAt: noon, ExpiresAt: noon.Add(time.Hour)}
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreateKYCLink(ctx, link) })
	opened := link
	opened.OpenedAt, opened.SessionHash, opened.SessionExpiresAt = noon, verification.SecretHash{2}, noon.Add(time.Minute)
	for _, want := range []verification.Link{link, opened} {
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
			found, err := tx.LockKYCLink(ctx, c.platform.ID, link.TokenHash)
			if !reflect.DeepEqual(found, want) {
				t.Errorf("found %+v, want %+v", found, want)
			}
			if err != nil {
				return err
			}
			return tx.UpdateKYCLink(ctx, opened)
		})
	}

	if found, err := c.KYCLinkOfSession(t.Context(), c.platform.ID, opened.SessionHash); err != nil || !reflect.DeepEqual(found, opened) {
		t.Errorf("found %+v, %v, want %+v", found, err, opened)
	}
	for name, find := range map[string]func() error{
		"the session of another platform": func() error {
			_, err := c.KYCLinkOfSession(t.Context(), c.otherPlatform.ID, opened.SessionHash)
			return err
		},
		"the token of another platform": func() error {
			return c.Do(t.Context(), func(ctx context.Context, tx *postgres.Unit) error {
				_, err := tx.LockKYCLink(ctx, c.otherPlatform.ID, link.TokenHash)
				return err
			})
		},
	} {
		if err := find(); !fault.Is(err, fault.NotFound) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

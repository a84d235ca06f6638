package postgres_test

import (
	"context"
	"reflect"
	"testing"
	"time"

	"causeway/adapters/postgres"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

func newMail(p ident.Platform, at time.Time) ports.QueuedMail {
	return ports.QueuedMail{
		Mail: ports.Mail{ID: newIDAt(at), FromAddress: "wallet@acme.test", FromName: "Acme", ReplyTo: "help@acme.test", To: "ana@example.com",
			Subject: "123456 is your code", Text: "text", HTML: "<p>html</p>"},
		Platform: p, Kind: ports.MailCode, CreatedAt: at, ExpiresAt: at.Add(5 * time.Minute),
	}
}

func TestMails_RoundTrip(t *testing.T) {
	t.Parallel()
	// A mail is read as it was added while it waits. When it has ended, only what became of it remains, and
	// a second outcome changes nothing.
	c := newEnv(t)
	m := newMail(c.platform.ID, noon)
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.AddMail(ctx, m) })

	read, environment, waits, err := c.WaitingMail(t.Context(), m.Platform, m.ID)
	if err != nil || !waits || environment != c.platform.Environment || !reflect.DeepEqual(read, m) {
		t.Fatalf("%+v, %s, %t, %v\nwant %+v", read, environment, waits, err, m)
	}
	if n, oldest, err := c.WaitingMails(t.Context(), 10); n != 1 || !oldest.Equal(noon) || err != nil {
		t.Errorf("%d wait since %s, %v", n, oldest, err)
	}

	outcome := ports.MailOutcome{Status: ports.MailRefused, Reason: "550", At: noon.Add(time.Second)}
	for _, o := range []ports.MailOutcome{outcome, {Status: ports.MailSent, At: noon.Add(time.Minute)}} {
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.EndMail(ctx, m.Platform, m.ID, o) })
	}

	if _, _, waits, err := c.WaitingMail(t.Context(), m.Platform, m.ID); waits || err != nil {
		t.Errorf("waits after its end: %t, %v", waits, err)
	}
	want := []ports.ListedMail{{ID: m.ID, Platform: m.Platform, Kind: m.Kind, CreatedAt: m.CreatedAt, ExpiresAt: m.ExpiresAt,
		MailOutcome: outcome}}
	for _, f := range []ports.MailFilter{{Limit: 10}, {Platform: m.Platform, Status: ports.MailRefused, Limit: 10}} {
		if listed, err := c.Mails(t.Context(), f); err != nil || !reflect.DeepEqual(listed, want) {
			t.Errorf("listed %+v, %v\nwant %+v", listed, err, want)
		}
	}
	if n, oldest, err := c.WaitingMails(t.Context(), 10); n != 0 || !oldest.IsZero() || err != nil {
		t.Errorf("%d wait since %s, %v", n, oldest, err)
	}
	if listed, err := c.Mails(t.Context(), ports.MailFilter{Platform: ident.NewPlatform(generator.New, noon), Limit: 10}); len(listed) != 0 ||
		err != nil {
		t.Errorf("another platform has %+v, %v", listed, err)
	}
}

func TestCountMail_CountsEachHour(t *testing.T) {
	t.Parallel()
	// The codes of an hour are counted for each platform, and apart from them the notices. An hour that has
	// passed counts as the latest.
	c := newEnv(t)
	other := newPlatform(t, "Other")
	c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error { return tx.CreatePlatform(ctx, other) })
	for i, step := range []struct {
		platform platform.Platform
		kind     ports.MailKind
		hour     time.Time
		want     int
	}{
		{c.platform, ports.MailCode, noon, 1},
		{c.platform, ports.MailCode, noon, 2},
		{c.platform, ports.MailWalletExported, noon, 1},
		{other, ports.MailCode, noon, 1},
		{c.platform, ports.MailAddressChanged, noon, 2},
		{c.platform, ports.MailCode, noon.Add(time.Hour), 1},
		{c.platform, ports.MailWalletExported, noon, 1},
		{c.platform, ports.MailCode, noon, 2},
		{c.platform, ports.MailCode, noon.Add(time.Hour), 3},
		{c.platform, ports.SMSCode, noon.Add(time.Hour), 1},
		{c.platform, ports.SMSCode, noon.Add(time.Hour), 2},
		{c.platform, ports.MailCode, noon.Add(time.Hour), 4},
		{c.platform, ports.SMSCode, noon.Add(2 * time.Hour), 1},
	} {
		c.mustDo(t, func(ctx context.Context, tx *postgres.Unit) error {
			n, err := tx.CountMail(ctx, step.platform.ID, step.kind, step.hour)
			if n != step.want {
				t.Errorf("step %d: %d mails, want %d", i, n, step.want)
			}
			return err
		})
	}
}

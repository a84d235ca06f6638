package partner_test

import (
	"errors"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/adapters/rails/partner"
	"causeway/adapters/rails/partner/partnertest"
	"causeway/core/ident"
	"causeway/core/signedmessage"
	"causeway/ports"
	"causeway/ports/portstest"
)

// newSMSSender returns a sender with its provider.
func newSMSSender(t *testing.T) (*partner.SMSSender, *partnertest.SMSProvider, *portstest.FakeClock) {
	t.Helper()
	secrets, err := signedmessage.Parse("whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")
	if err != nil {
		t.Fatal(err)
	}
	clock := portstest.NewFakeClock(time.Now())
	provider := &partnertest.SMSProvider{Secrets: secrets, Now: clock.Now}
	server := httptest.NewServer(provider)
	t.Cleanup(server.Close)
	sender, err := partner.NewSMSSender(server.URL, secrets, clock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sender.Close)
	return sender, provider, clock
}

func newSMS(to string, at time.Time) ports.SMS {
	return ports.SMS{ID: uuid.New(), Platform: ident.NewPlatform(func(time.Time) uuid.UUID { return uuid.New() }, at), To: to, Sender: "Acme",
		Text: "123456 is your code", ExpiresAt: at.Add(10 * time.Minute)}
}

func TestSMSSender_SendsOnce(t *testing.T) {
	t.Parallel()
	// A text message arrives as it was sent, and once if it is sent again.
	sender, provider, clock := newSMSSender(t)
	m := newSMS("+447700900123", clock.Now())

	for range 2 {
		if err := sender.Send(t.Context(), m); err != nil {
			t.Fatal(err)
		}
	}

	got := provider.Sent(m.To)
	if len(got) != 1 || got[0].ID != m.ID.String() || got[0].PlatformID != m.Platform.String() || got[0].Sender != "Acme" ||
		got[0].Text != m.Text || !got[0].ExpiresAt.Equal(m.ExpiresAt) {
		t.Errorf("sent %+v", got)
	}
}

func TestSMSSender_SaysWhenToTryAgain(t *testing.T) {
	t.Parallel()
	// A provider that is busy is asked again after the time that it names.
	sender, _, clock := newSMSSender(t)
	var later *ports.TryLaterError
	if err := sender.Send(t.Context(), newSMS("+12025550102", clock.Now())); !errors.As(err, &later) || later.After <= 0 {
		t.Errorf("busy: %v", err)
	}
}

func TestSMSSender_OnlyRefusalIsFinal(t *testing.T) {
	t.Parallel()
	// What the provider refuses is final, with its code. Whatever else it answers can be tried again, and no error has the number.
	sender, provider, clock := newSMSSender(t)
	var refused *ports.MessageRefusedError
	if err := sender.Send(t.Context(), newSMS("+12025550101", clock.Now())); !errors.As(err, &refused) || refused.Reason != "INVALID_NUMBER" {
		t.Errorf("refused: %v", err)
	}
	for _, f := range []partnertest.SMSFault{partnertest.SMSNoCode, partnertest.SMSNumberShown, partnertest.SMSOtherID, partnertest.SMSUnknown,
		partnertest.SMSDown, partnertest.SMSNotJSON, partnertest.SMSRedirected} {
		provider.SetFault(f)
		m := newSMS("+12025550101", clock.Now())
		if err := sender.Send(t.Context(), m); err == nil || errors.As(err, &refused) || strings.Contains(err.Error(), m.To) {
			t.Errorf("%s: %v", f, err)
		}
	}
	if _, err := partner.NewSMSSender("http://sms.example.com", nil, clock); err == nil {
		t.Error("http to another machine is accepted")
	}
}

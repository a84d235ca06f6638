package event

import (
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/core/ident"
	"causeway/core/tracing"
)

var (
	testTime     = time.Date(2026, 3, 4, 5, 6, 7, 891_234_567, time.FixedZone("east", 3600))
	testPlatform = ident.NewPlatform(func(time.Time) uuid.UUID {
		return uuid.MustParse("019d0000-0000-7000-8000-000000000001")
	}, testTime)
	testTrace   = tracing.Context("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	testWebhook = ident.NewWebhook(func(time.Time) uuid.UUID {
		return uuid.MustParse("019d0000-0000-7000-8000-00000000000a")
	}, testTime)
)

func TestEnvelope(t *testing.T) {
	t.Parallel()
	// The body is JSON with the fields of the event.
	e := Event{ID: testWebhook, Platform: testPlatform, Type: CustomerStatus, Name: CustomerKYCApproved, OccurredAt: testTime}

	const want = `{"webhookId":"Webhook:019d0000-0000-7000-8000-00000000000a","type":"CUSTOMER_STATUS","event":"CUSTOMER.KYC_APPROVED",` +
		`"timestamp":"2026-03-04T04:06:07.891Z"}`
	if body := e.Envelope(); string(body) != want {
		t.Errorf("got %s, want %s", body, want)
	}
}

func TestRegistry_Render(t *testing.T) {
	t.Parallel()
	// Each event has the body that its kind renders, in order, and its own keys. One without a resource has its envelope; one
	// that no kind renders is an error.
	refused := errors.New("refused")
	registry := Registry{
		{CustomerStatus, []string{CustomerKYCApproved}, func(e Event) ([]byte, error) { return fmt.Append(nil, "customer ", e.Resource), nil }},
		{Receivable, []string{ReceivableOpened}, func(Event) ([]byte, error) { return nil, refused }},
	}
	about := func(kind Type, name string, resource any) Event {
		return Event{testWebhook, testPlatform, kind, name, uuid.UUID{1}, testTime, resource, testTrace}
	}
	ana, none := about(CustomerStatus, CustomerKYCApproved, "ana"), about(CustomerStatus, CustomerKYCApproved, nil)

	got, err := registry.RenderAll([]Event{ana, none})

	want := []Rendered{
		{testWebhook, testPlatform, CustomerStatus, CustomerKYCApproved, uuid.UUID{1}, testTime, []byte("customer ana"), testTrace},
		{testWebhook, testPlatform, CustomerStatus, CustomerKYCApproved, uuid.UUID{1}, testTime, none.Envelope(), testTrace},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := registry.RenderAll([]Event{ana, about(Receivable, ReceivableOpened, 7)}); got != nil || !errors.Is(err, refused) {
		t.Errorf("refused by its kind: %+v, %v", got, err)
	}
	if got, err := registry.RenderAll([]Event{about(Invitation, InvitationClaimed, 7)}); got != nil || err == nil {
		t.Errorf("of no kind: %+v, %v", got, err)
	}
}

func TestNewTest(t *testing.T) {
	t.Parallel()
	// A test event has a subject of its own, so that it waits for no other, and no resource.
	e := NewTest(testWebhook, testPlatform, testTime)

	if e.Subject != testWebhook.UUID() || e.Resource != nil || e.Type != Test || !SentOnce(e.Name) || e.Platform != testPlatform {
		t.Errorf("got %+v", e)
	}
}

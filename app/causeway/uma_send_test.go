package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/app/internal/apptest"
	"causeway/app/receivers"
	"causeway/core/event"
	rules "causeway/core/uma"
)

// waitForDelivery waits until an invoice is delivered or refused.
func (s *umaSide) waitForDelivery(made receivers.UMAInvoice, want rules.DeliveryStatus) receivers.UMAInvoice {
	s.t.Helper()
	for deadline := time.Now().Add(apptest.WaitTimeout); ; time.Sleep(time.Millisecond) {
		read, err := s.receivers.GetUMAInvoice(s.t.Context(), s.Platform.ID, made.KeptInvoice.ID)
		switch {
		case err != nil:
			s.t.Fatal(err)
		case read.Delivery.Status == want:
			return read
		case time.Now().After(deadline):
			s.t.Fatalf("the invoice is %+v, not %s", read.Delivery, want)
		}
	}
}

// asked returns the names of the events about invoices on this side.
func (s *umaSide) asked() (names []string) {
	for _, e := range s.Events.All() {
		if e.Type == event.UMAInvoice {
			names = append(names, e.Name)
		}
	}
	return names
}

// sendAgain waits until an invoice is to be sent later, and sends it.
func (s *umaSide) sendAgain() {
	s.t.Helper()
	s.waitUnsent()
	s.Clock.Advance(time.Hour)
}

// waitUnsent waits until an invoice is to be sent later.
func (s *umaSide) waitUnsent() {
	s.t.Helper()
	for deadline := time.Now().Add(apptest.WaitTimeout); ; time.Sleep(time.Millisecond) {
		waiting := s.QueryStrings(`SELECT id::text FROM jobs WHERE step = 'send-uma-invoice' AND attempts = 0 AND due_at > '` +
			s.Clock.Now().Format(time.RFC3339Nano) + `'`)
		if len(waiting) == 1 {
			break
		}
		if time.Now().After(deadline) {
			s.t.Fatal("the invoice is not sent again")
		}
	}
}

// reach lets other providers reach this one, or not, and loses its answers at a path.
func (s *umaSide) reach(down bool, lost string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.down, s.lost = down, lost
}

func TestUMAInvoice_IsSentUntilItIsTaken(t *testing.T) {
	t.Parallel()
	// An invoice is stored before it is sent. If ana's provider is away, or its answer is lost, it is sent again: ana is asked once, and
	// her platform learns of it once.
	ana, bo := newUMASides(t)
	ana.reach(true, "")

	made := bo.invoice(ana)
	if made.Delivery.Status != rules.DeliverySending {
		t.Errorf("at first: %+v", made.Delivery)
	}
	bo.sendAgain()
	bo.waitUnsent()
	ana.reach(false, "/uma/requests")
	bo.sendAgain()
	bo.sendAgain()
	bo.waitUnsent()
	if got := ana.asked(); len(got) != 1 {
		t.Errorf("with a lost answer ana's platform learned %q", got)
	}
	ana.reach(false, "")
	bo.sendAgain()
	bo.waitForDelivery(made, rules.DeliveryDelivered)
	ana.wantInvoice(made.Invoice.ID, rules.InvoicePending)
	if got := ana.asked(); len(got) != 1 || got[0] != event.UMAInvoiceReceived {
		t.Errorf("ana's platform learned %q", got)
	}
	if got := bo.asked(); len(got) != 0 {
		t.Errorf("bo's platform learned %q", got)
	}
}

func TestUMAInvoice_IsRefusedByTheOtherProvider(t *testing.T) {
	t.Parallel()
	// An invoice that the provider of its sender does not take, or that cannot be sent before it expires, says why, and the platform that
	// has issued it learns of that. It can still be paid in another way until it expires.
	ana, bo := newUMASides(t)
	made := bo.invoiceTo("$eve@bank.test")
	refused := bo.waitForDelivery(made, rules.DeliveryRefused)
	if !strings.Contains(refused.Delivery.Reason, "404 USER_NOT_FOUND") || refused.Status != rules.InvoicePending {
		t.Errorf("%+v, %s", refused.Delivery, refused.Status)
	}
	ana.reach(true, "")
	late := bo.invoice(ana)
	for bo.Clock.Now().Before(late.ExpiresAt.Add(-10 * time.Second)) {
		bo.sendAgain()
	}
	if refused := bo.waitForDelivery(late, rules.DeliveryRefused); refused.Delivery.Reason == "" {
		t.Errorf("%+v", refused.Delivery)
	}
	if got := bo.asked(); !slices.Equal(got, []string{event.UMAInvoiceRefused, event.UMAInvoiceRefused}) || len(ana.asked()) != 0 {
		t.Errorf("bo's platform learned %q, ana's %q", got, ana.asked())
	}
}

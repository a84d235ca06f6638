package e2e

import (
	"strings"
	"testing"
)

func TestSandboxTime_CommandsAndRefusals(t *testing.T) {
	t.Parallel()
	// A developer moves a quote and a payment on with a token alone. What does not wait is refused with the reason, and so is
	// a platform of production.
	h := newTestEnv(t)
	hooks := h.startReceiver()
	quote := h.createQuote("")
	run := func(args ...string) (out, errOut string, status int) {
		return runCommand(t, h.tokenEnv(), append([]string{"sandbox"}, args...)...)
	}

	if out, errOut, status := run("expire", quote.text("id")); status != 0 || out != quote.text("id")+" is EXPIRED.\n" {
		t.Errorf("expire: %d, %s%s", status, out, errOut)
	}
	hooks.awaitOutgoingEvent(quote.text("transactionId"), "EXPIRED")
	h.payQuote(quote, 0).wantStatus(200)
	refunded := hooks.awaitOutgoingEvent(quote.text("transactionId"), "REFUND_COMPLETED")
	refunded.wantValues(map[string]any{"transaction.refund.reason": "TIMEOUT"})

	paid := h.createQuote("")
	h.payQuote(paid, 0).wantStatus(200)
	hooks.awaitOutgoingEvent(paid.text("transactionId"), "COMPLETED")
	if out, errOut, status := run("return", paid.text("transactionId")); status != 0 ||
		out != paid.text("transactionId")+" is FAILED.\n" {
		t.Errorf("return: %d, %s%s", status, out, errOut)
	}
	hooks.checkEvents(paid.text("transactionId"), "PENDING", "PROCESSING", "COMPLETED", "FAILED", "REFUND_PENDING", "REFUND_COMPLETED")

	for _, action := range []string{"settle", "return", "take-back"} {
		_, errOut, status := run(action, paid.text("transactionId"))
		if status != 1 || !strings.Contains(errOut, "409 CONFLICT: The transaction ") {
			t.Errorf("%s again: %d, %s", action, status, errOut)
		}
	}
	if _, errOut, status := run("expire", "Quote:none"); status != 1 || !strings.Contains(errOut, "400 INVALID_INPUT") {
		t.Errorf("an invalid id: %d, %s", status, errOut)
	}
	path := "/sandbox/quotes/" + h.createQuote("").text("id") + "/expire"
	keyed := h.withHeader("Idempotency-Key", "expire-1")
	first := keyed.post(path, nil).wantStatus(200)
	if again := keyed.post(path, nil).wantStatus(200); string(again.body) != string(first.body) {
		t.Errorf("repeated with the key: %s, first %s", again.body, first.body)
	}
	h.createPlatform("Production", "PRODUCTION").post(path, nil).wantError(403, "FORBIDDEN")
}

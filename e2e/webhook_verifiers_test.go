package e2e

import "testing"

func TestWebhook_LibrariesFromNPMVerify(t *testing.T) {
	t.Parallel()
	// Endpoints that use the libraries of Standard Webhooks and Svix, unchanged, accept webhooks with
	// the secret as it was shown, and while it is rotated with the old one too. They refuse those
	// of another secret.
	for _, library := range []string{"standardwebhooks", "svix"} {
		t.Run(library, func(t *testing.T) {
			t.Parallel()
			h := newSharedEnv(t)
			startEndpoint := func(secret apiResponse) string {
				return startNodeServer(t, []string{"WEBHOOK_SECRET=" + secret.text("secret")}, "endpoint.mjs", library)
			}
			first := h.post("/webhook-secrets", nil).wantStatus(201)
			withFirst := startEndpoint(first)
			test := func(endpoint string) int64 {
				h.patch("/config", object{"webhookEndpoint": endpoint}).wantStatus(200)
				return h.post("/sandbox/webhooks/test", nil).wantStatus(200).int("response_status")
			}

			if status := test(withFirst); status != 204 {
				t.Errorf("with the secret: status %d", status)
			}
			quote := h.createQuote("")
			h.payQuote(quote, 0).wantStatus(200)
			eventually(t, "the delivery of all events", func() bool {
				return h.get("/webhook-deliveries?status=DELIVERED&event=OUTGOING_PAYMENT.COMPLETED").text("data.0.transactionId") == quote.text(
					"transactionId")
			})

			second := h.post("/webhook-secrets", object{"overlapSeconds": 3600}).wantStatus(201)
			withSecond := startEndpoint(second)
			if old, now := test(withFirst), test(withSecond); old != 204 || now != 204 {
				t.Errorf("during the rotation: status %d with the old secret, %d with the new one", old, now)
			}
			h.delete("/webhook-secrets/" + first.text("id")).wantStatus(204)
			if old, now := test(withFirst), test(withSecond); old != 401 || now != 204 {
				t.Errorf("after the rotation: status %d with the old secret, %d with the new one", old, now)
			}
			h.patch("/config", object{"webhookSignatures": []string{"HMAC_SHA256"}}).wantStatus(200)
			if status := test(withSecond); status != 204 {
				t.Errorf("with the HMAC signature only: status %d", status)
			}
		})
	}
}

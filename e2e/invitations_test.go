package e2e

import (
	"fmt"
	"testing"
)

func TestInvitation_ClaimedOnOtherPlatform(t *testing.T) {
	t.Parallel()
	// An invitation by a customer of one platform is read and claimed on another one, in any process,
	// and the event reaches the first. Neither sees anything else of the other, nor the other environment.
	h := newSharedEnv(t)
	hooks := h.startReceiver()
	other, production := h.createPlatform("Other", "SANDBOX"), h.createPlatform("Real", "PRODUCTION", "--regulated")
	domain := func(p *tenant) string { return p.get("/config").wantStatus(200).text("umaDomain") }
	inviter, invitee := "$ana@"+domain(h.tenant), "$maya@"+domain(other)
	h.createCustomer(object{"umaAddress": inviter})
	other.createCustomer(object{"umaAddress": invitee})

	h.post("/invitations", object{"inviterUma": inviter}).wantError(400, "INVITATIONS_NOT_CONFIGURED")
	h.patch("/config", object{"invitationUrl": "https://example.com/join/"}).wantStatus(200).wantValues(
		map[string]any{"invitationUrl": "https://example.com/join"})
	h.post("/invitations", object{"inviterUma": invitee}).wantError(400, "INVALID_INPUT")
	created := h.withHeader("Idempotency-Key", "invite").post("/invitations", object{"inviterUma": inviter, "firstName": "Maya",
		"amountToSend": 1250}).wantStatus(201)
	path := "/invitations/" + created.text("code")
	created.wantValues(map[string]any{"status": "PENDING", "url": "https://example.com/join/" + created.text("code"),
		"amountToSend.amount": 1250, "inviterUma": inviter})

	if read := other.get(path).wantStatus(200); string(read.body) != string(created.body) {
		t.Errorf("read %s, want %s", read.body, created.body)
	}
	production.get(path).wantError(404, "INVITATION_NOT_FOUND")
	production.post(path+"/cancel", nil).wantError(404, "INVITATION_NOT_FOUND")
	other.post(path+"/cancel", nil).wantError(403, "FORBIDDEN")
	other.post(path+"/claim", object{"inviteeUma": inviter}).wantError(400, "INVALID_INPUT")
	second := secondServer(t)
	keyed := other.withHeader("Idempotency-Key", "claim")
	claimed := keyed.post(path+"/claim", object{"inviteeUma": invitee}).wantStatus(200).wantValues(map[string]any{"status": "CLAIMED",
		"inviteeUma": invitee})

	if replayed := keyed.withServer(second).post(path+"/claim", object{"inviteeUma": invitee}); replayed.header.Get(
		"Idempotent-Replayed") != "true" || string(replayed.body) != string(claimed.body) {
		t.Errorf("repeated: %d %s", replayed.status, replayed.body)
	}
	other.post(path+"/claim", object{"inviteeUma": invitee}).wantError(400, "INVITATION_ALREADY_CLAIMED")
	h.post(path+"/cancel", nil).wantError(400, "INVITATION_ALREADY_CLAIMED")
	event := hooks.awaitDelivery("the event of the claim", func(d delivery) bool { return d.event == "INVITATION.CLAIMED" })
	if got, want := fmt.Sprint(event.value("invitation")), fmt.Sprint(decodeJSON(t, claimed.body)); got != want {
		t.Errorf("the event has %s, want %s", got, want)
	}
	if n := h.queryInt("SELECT count(*) FROM webhook_events WHERE name = 'INVITATION.CLAIMED' AND platform_id = $1",
		uuidOf(h.platformID)); n != 1 {
		t.Errorf("%d events of one claim", n)
	}
}

func TestInvitation_GuessingIsLimited(t *testing.T) {
	t.Parallel()
	// After some codes of no invitation, a platform is asked to wait.
	h := newSharedEnv(t)
	for n := range 100 {
		got := h.get(fmt.Sprintf("/invitations/%012d", n))
		if got.status == 429 {
			if n < 20 || n > 30 || got.header.Get("Retry-After") == "" {
				t.Errorf("refused after %d codes, retry after %q", n, got.header.Get("Retry-After"))
			}
			return
		}
		got.wantError(404, "INVITATION_NOT_FOUND")
	}
	t.Error("100 codes were tried")
}

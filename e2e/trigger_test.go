package e2e

import (
	"strings"
	"testing"

	"causeway/adapters/apiclient/trigger"
	"causeway/adapters/http/api"
)

func TestTrigger_EveryEvent(t *testing.T) {
	t.Parallel()
	// With a token alone, each event of the service happens when it is asked for, and again when it is asked for again. The
	// list names all. The settings and tokens of the platform are as before.
	h := newSharedEnv(t)
	h.tenant = h.createPlatform("Triggers", "SANDBOX") // not regulated
	h.startReceiver()
	h.receiver.setApprovalResponse(202, "")
	h.patch("/config", object{"invitationUrl": "https://example.com/invitations"}).wantStatus(200)
	tokens, settings := len(h.get("/tokens").list("data")), h.get("/ledger/settings").wantStatus(200)
	list := mustRunCommand(t, nil, "trigger")
	for _, kind := range api.Events {
		for _, name := range kind.Names {
			if !strings.Contains(list, name+" ") {
				t.Errorf("%s is not listed", name)
			}
			if found, _ := trigger.Of(name); found.Never != "" {
				continue
			}
			for range 2 {
				out, errOut, status := runCommand(t, h.tokenEnv(), "trigger", name)
				if status != 0 || !strings.Contains(out, name+" happened: Webhook:") {
					t.Errorf("%s: status %d\n%s%s", name, status, out, errOut)
				}
			}
		}
	}
	if n := len(h.get("/tokens").list("data")); n != tokens {
		t.Errorf("%d tokens, before there were %d", n, tokens)
	}
	if after := h.get("/ledger/settings"); after.text("fourEyes.0") != settings.text("fourEyes.0") {
		t.Errorf("settings are %s, before they were %s", after.body, settings.body)
	}
}

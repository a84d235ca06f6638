package trigger_test

import (
	"context"
	"strings"
	"testing"

	"causeway/adapters/apiclient"
	"causeway/adapters/apiclient/trigger"
	"causeway/adapters/http/api"
)

func TestOf_EveryEventOfTheService(t *testing.T) {
	t.Parallel()
	// Every event that the service sends has a trigger, or the reason why there is none. A new event needs one.
	for _, kind := range api.Events {
		for _, name := range kind.Names {
			found, known := trigger.Of(name)
			if !known || (found.Does == "") == (found.Never == "") {
				t.Errorf("%s: %+v", name, found)
			}
		}
	}
}

func TestEvent_Refused(t *testing.T) {
	t.Parallel()
	// No request is made for an unknown event, nor for one that cannot be triggered; the reason is said.
	client := &apiclient.Client{BaseURL: "http://127.0.0.1:0"}
	for name, want := range map[string]string{"LOST": "there is no event LOST",
		"INTERNAL_ACCOUNT.STATUS_UPDATED": "cannot be triggered: no operation"} {
		if _, err := trigger.Event(context.Background(), client, name, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package requestlog_test

import (
	"testing"

	"github.com/google/uuid"

	"causeway/core/platform"
	"causeway/core/requestlog"
)

func TestForms_ShowsText(t *testing.T) {
	t.Parallel()
	// A text is shown in a form of its field only; the empty text always is, and nothing else of a field without forms, or that is
	// masked whole.
	const id = "Quote:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b"
	for _, c := range []struct {
		forms *requestlog.Forms
		text  string
		want  bool
	}{
		{nil, "", true}, {nil, "Ana", false}, {&requestlog.Forms{}, id, false},
		{&requestlog.Forms{ID: true}, id, true}, {&requestlog.Forms{ID: true}, id + "0", false}, {&requestlog.Forms{ID: true}, "Quote:1", false},
		{&requestlog.Forms{ID: true}, "Qu te:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b", false},
		{&requestlog.Forms{ID: true}, "Quote:0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6z", false},
		{&requestlog.Forms{Time: true}, "2026-01-02", true}, {&requestlog.Forms{Time: true}, "2026-01-02T03:04:05.123+01:00", true},
		{&requestlog.Forms{Time: true}, "4111-1111-1111-1111", false}, {&requestlog.Forms{Time: true}, "Ana Lima", false},
		{&requestlog.Forms{Currency: true}, "USD", true}, {&requestlog.Forms{Currency: true}, "ANA", false},
		{&requestlog.Forms{Values: map[string]bool{"RED": true}}, "RED", true},
		{&requestlog.Forms{Values: map[string]bool{"RED": true}}, "red", false},
		{&requestlog.Forms{ID: true, Whole: true}, id, false}, {&requestlog.Forms{Number: true, Boolean: true}, "1", false},
	} {
		if got := c.forms.ShowsText([]byte(c.text)); got != c.want {
			t.Errorf("%q as %+v: %t", c.text, c.forms, got)
		}
	}
}

func TestBodies_Keep(t *testing.T) {
	t.Parallel()
	// Which bodies are kept depends on the setting, the environment and the status.
	for _, c := range []struct {
		bodies             requestlog.Bodies
		of                 platform.Environment
		succeeded, refused bool
	}{
		{requestlog.NoBodies, platform.Sandbox, false, false}, {requestlog.FailedBodies, platform.Sandbox, true, true},
		{requestlog.FailedBodies, platform.Production, false, true}, {requestlog.AllBodies, platform.Production, true, true},
		{"", platform.Sandbox, false, false},
	} {
		if c.bodies.Keep(c.of, 201) != c.succeeded || c.bodies.Keep(c.of, 400) != c.refused {
			t.Errorf("%+v", c)
		}
	}
}

func TestSubjectOf_PathOrResponse(t *testing.T) {
	t.Parallel()
	// A request is about the first id in its path; one that makes something, about the id that its response begins with. An id deeper in a
	// response, or what is no id, is none.
	const quote, payment = "0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6b", "0199e3a4-7c5e-7d21-9f0b-3c1d2e4f5a6c"
	for _, c := range []struct{ path, response, want string }{
		{"/v/quotes", `{"id":"Quote:` + quote + `","transactionId":"Transaction:` + payment + `"}`, quote},
		{"/v/quotes/Quote:" + quote + "/execute", `{"id":"Transaction:` + payment + `"}`, quote},
		{"/v/quotes/Quote%3A" + quote + "/execute", "", quote},
		{"/v/customers/Customer:" + quote + "/x/Document:" + payment, "", quote},
		{"/v/quotes", `{"data":[{"id":"Quote:` + quote + `"}]}`, ""}, {"/v/quotes", `{"id":"Quote:1"}`, ""},
		{"/v/quotes", `{"id":"Quote:`, ""}, {"/v/quotes/***", "", ""},
	} {
		got := requestlog.SubjectOf(c.path, []byte(c.response))
		if want, _ := uuid.Parse(c.want); got != want {
			t.Errorf("%s, %s: %s, want %s", c.path, c.response, got, want)
		}
	}
}

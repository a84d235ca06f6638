package httpapi

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"causeway/core/platform"
)

func TestParseActor(t *testing.T) {
	t.Parallel()
	// A request names at most one person, in UTF-8 or percent-encoded. A percent sign that encodes nothing is
	// part of the name.
	for text, want := range map[string]string{
		"Ana Lima": "Ana Lima", " Ana ": "Ana", "Zoë": "Zoë", "Zo%C3%AB": "Zoë", "100% Ana": "100% Ana",
		strings.Repeat("%C3%AB", 200): strings.Repeat("ë", 200),
	} {
		if got, err := parseActor(http.Header{actorHeader: {text}}); got != want || err != nil {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	for _, values := range [][]string{{""}, {" "}, {"Ana", "Ana"}, {strings.Repeat("x", 201)}, {"Zo\xeb"}, {"%FF"}, {"a%00"}} {
		got, err := parseActor(http.Header{actorHeader: values})
		if got != "" || err == nil || !strings.Contains(err.Error(), actorHeader) {
			t.Errorf("%q: %q, %v", values, got, err)
		}
	}
	if got, err := parseActor(http.Header{}); got != "" || err != nil {
		t.Errorf("without a header: %q, %v", got, err)
	}
}

func TestOperation_ActorIsPassedToTheHandler(t *testing.T) {
	t.Parallel()
	// An operation with Actor gets the token and the name of the person, refuses an invalid name before it
	// runs, and refuses an idempotency key of another person. Other operations ignore the header.
	f := newUnbuiltFixture(t)
	var authors []platform.Author
	Post(f.API, Operation{ID: "tipCarrier", Path: "/tips", Summary: "Tip the carrier", Tag: "Parcels", Permission: platform.Manage,
		Actor: true},
		func(_ context.Context, call Call, _ *struct{}) (struct{}, error) {
			authors = append(authors, call.Author())
			return struct{}{}, nil
		}, func(struct{}) NoBody { return NoBody{} })
	f.handler = func(_ context.Context, call Call, _ *sendParcel) (parcel, error) {
		authors = append(authors, call.Author())
		return parcel{ID: parcelID}, nil
	}
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}
	named := withHeader(actorHeader, "Ana")

	if r := f.do("POST", "/tips", "", named, withKey("1")); r.status != http.StatusNoContent {
		t.Fatalf("%d %s", r.status, r.body)
	}
	if r := f.do("POST", "/tips", "", withHeader(actorHeader, "Ben"), withKey("1")); r.status != http.StatusUnprocessableEntity {
		t.Errorf("the key of another person: %d %s", r.status, r.body)
	}
	if r := f.do("POST", "/tips", "", withHeader(actorHeader, " ")); r.status != http.StatusBadRequest || r.fields[actorHeader] == "" {
		t.Errorf("an empty name: %d %s", r.status, r.body)
	}
	f.do("POST", "/tips", "")
	f.do("POST", "/parcels", `{"to": "`+receiverID.String()+`", "weight": 1}`, named)

	if len(authors) != 3 || authors[0].Actor != "Ana" || authors[0].Token.IsZero() || authors[1].Actor != "" || authors[2].Actor != "" {
		t.Errorf("authors %+v", authors)
	}
}

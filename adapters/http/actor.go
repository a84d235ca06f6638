package httpapi

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/fault"
	"causeway/core/platform"
)

// actorHeader names the person who makes a request to an operation with Operation.Actor.
const actorHeader = "Causeway-Actor"

const actor = "Actor" // a component of the description

var actorParameter = &huma.Param{
	Name: actorHeader, In: "header",
	Description: "Name of the person who makes the request, in 1 to 200 characters of UTF-8 or percent-encoded. It is stored with the " +
		"change and returned beside the id of the token.",
	Schema: &huma.Schema{Type: huma.TypeString, Examples: []any{"Ana Lima"}},
}

// parseActor returns the person that a request names; empty if it names none. Clients that can send
// only ASCII in headers, as browsers do, percent-encode the name.
func parseActor(header http.Header) (string, error) {
	values := header[actorHeader]
	if len(values) == 0 {
		return "", nil
	}
	name := values[0]
	if strings.Contains(name, "%") {
		if decoded, err := url.PathUnescape(name); err == nil {
			name = decoded
		}
	}
	parsed, err := platform.ParseActor(name)
	if len(values) > 1 || err != nil {
		return "", fault.Invalid(fault.Field{Field: actorHeader, Message: "must be sent once and name who does this, in 1 to 200 characters of " +
			"UTF-8 or percent-encoded"})
	}
	return parsed, nil
}

// Author returns who makes the request.
func (c Call) Author() platform.Author {
	author := c.Principal.Author()
	author.Actor = c.Actor
	return author
}

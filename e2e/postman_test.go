package e2e

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// postmanCollection is what the test reads of the format of Postman, version 2.1.
type postmanCollection struct {
	Variable []postmanPair
	Auth     postmanAuth
	Item     []struct {
		Item []struct {
			Name    string
			Request struct {
				Method string
				URL    struct {
					Raw      string
					Path     []string
					Query    []postmanPair
					Variable []postmanPair
				}
				Header []postmanPair
				Body   *struct {
					Mode, Raw string
					FormData  []postmanPair
				}
				Auth *postmanAuth
			}
		}
	}
}

type postmanPair struct{ Key, Value, Type, Src string }

type postmanAuth struct {
	Type   string
	Basic  []postmanPair
	Bearer []postmanPair
}

func TestPostman_CollectionHasEveryOperation(t *testing.T) {
	t.Parallel()
	// The published collection of Postman has every operation. Sent one after the other, as Postman fills in the variables, each request
	// reaches its operation with valid credentials, a key of its own and a body of the right type; those that need no id of an example
	// succeed.
	h := newSharedEnv(t)
	var collection postmanCollection
	if err := json.Unmarshal(h.get("/docs/postman.json").wantStatus(200).body, &collection); err != nil {
		t.Fatal(err)
	}
	operations, _ := parseOperations(h.get("/openapi.json").wantStatus(200))
	if collection.Auth.Type != "basic" || len(collection.Auth.Basic) != 2 || collection.Auth.Basic[0] != (postmanPair{Key: "username",
		Value: "{{clientId}}", Type: "string"}) {
		t.Errorf("the credentials are %+v", collection.Auth)
	}
	if base := collection.Variable[0]; base.Key != "baseUrl" || base.Value != h.BaseURL {
		t.Errorf("the address is %+v, want %s", base, h.BaseURL)
	}

	statuses := map[string]int{}
	for _, folder := range collection.Item {
		for _, item := range folder.Item {
			request := item.Request
			called := "/" + strings.Join(request.URL.Path, "/")
			for _, v := range request.URL.Variable {
				called = strings.Replace(called, ":"+v.Key, v.Value, 1)
			}
			for id, op := range operations {
				if op.method == request.Method && strings.NewReplacer("{", ":", "}", "").Replace(op.path) == "/"+strings.Join(request.URL.Path, "/") {
					delete(operations, id)
				}
			}
			var query []string
			for _, pair := range request.URL.Query {
				query = append(query, pair.Key+"="+url.QueryEscape(pair.Value))
			}
			if query != nil {
				called += "?" + strings.Join(query, "&")
			}
			by := h.client
			for _, header := range request.Header {
				if header.Key == "Idempotency-Key" && header.Value != "{{$guid}}" {
					t.Errorf("%s has the key %s", item.Name, header.Value)
				} else if header.Key != "Idempotency-Key" {
					by = by.withHeader(header.Key, header.Value)
				}
			}
			ofAgent := strings.HasPrefix(called, "/agents/me")
			if ofAgent != (request.Auth != nil && request.Auth.Type == "bearer" && request.Auth.Bearer[0].Value == "{{accessToken}}") {
				t.Errorf("%s has the credentials %+v", item.Name, request.Auth)
			}
			var body any
			if request.Body != nil {
				switch request.Body.Mode {
				case "raw":
					body = request.Body.Raw
				case "file":
					body = "a,b\n1,2\n"
				case "formdata":
					fields := map[string]string{}
					for _, field := range request.Body.FormData {
						fields[field.Key] = field.Value + field.Src
					}
					text, err := json.Marshal(fields)
					if err != nil {
						t.Fatal(err)
					}
					body, by = formBody(t, string(text), passportPhoto()), by.withHeader("Content-Type", formContentType)
				}
			}
			if ofAgent {
				continue // its token is of no agent yet
			}
			got := by.call(request.Method, called, body)
			if refused := []int{401, 403, 405, 415}; slices.Contains(refused, got.status) || got.status >= http.StatusInternalServerError ||
				strings.HasPrefix(got.text("message"), "No such endpoint") || got.text("code") == "INVALID_REQUEST_FORMAT" {
				t.Errorf("%s: %s returned %d %s", item.Name, got.request, got.status, got.body)
			}
			statuses[item.Name] = got.status
		}
	}
	for id := range operations {
		t.Errorf("the collection has no request of %s", id)
	}
	for _, name := range []string{"Create a customer: A business", "List customers", "Get the trial balance"} {
		if status := statuses[name]; status < 200 || status > 299 {
			t.Errorf("%s returned %d", name, status)
		}
	}
}

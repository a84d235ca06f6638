package httpapi

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
)

// postmanSchema is the format of collections of Postman, which other programs import too.
const postmanSchema = "https://schema.getpostman.com/json/collection/v2.1.0/collection.json"

type (
	postmanCollection struct {
		Info     map[string]string `json:"info"`
		Variable []postmanPair     `json:"variable"`
		Auth     *postmanAuth      `json:"auth"`
		Item     []postmanFolder   `json:"item"`
	}
	postmanFolder struct {
		Name string        `json:"name"`
		Item []postmanItem `json:"item"`
	}
	postmanItem struct {
		Name    string         `json:"name"`
		Request postmanRequest `json:"request"`
	}
	postmanRequest struct {
		Method string        `json:"method"`
		URL    postmanURL    `json:"url"`
		Header []postmanPair `json:"header,omitempty"`
		Body   *postmanBody  `json:"body,omitempty"`
		Auth   *postmanAuth  `json:"auth,omitempty"` // that of the collection if it is nil
	}
	postmanURL struct {
		Raw      string        `json:"raw"`
		Host     []string      `json:"host"`
		Path     []string      `json:"path"`
		Query    []postmanPair `json:"query,omitempty"`
		Variable []postmanPair `json:"variable,omitempty"`
	}
	postmanPair struct {
		Key   string `json:"key"`
		Value string `json:"value,omitempty"`
		Type  string `json:"type,omitempty"`
		Src   string `json:"src,omitempty"` // of a file
	}
	postmanAuth struct {
		Type   string        `json:"type"`
		Basic  []postmanPair `json:"basic,omitempty"`
		Bearer []postmanPair `json:"bearer,omitempty"`
	}
	postmanBody struct {
		Mode     string            `json:"mode"`
		Raw      string            `json:"raw,omitempty"`
		FormData []postmanPair     `json:"formdata,omitempty"`
		File     map[string]string `json:"file,omitempty"`
		Options  map[string]any    `json:"options,omitempty"`
	}
)

// newPostmanCollection returns the requests of the examples that have samples, in the folders of the page. The credentials are variables.
func newPostmanCollection(view pageView, requests map[string][]requestExample) postmanCollection {
	collection := postmanCollection{
		Info: map[string]string{"name": view.Title + " " + view.Version, "schema": postmanSchema,
			"description": "Set the variables clientId and clientSecret to those of a token, and accessToken to that of an agent."},
		Variable: []postmanPair{{Key: "baseUrl", Value: view.Base}, {Key: "clientId"}, {Key: "clientSecret"}, {Key: "accessToken"}},
		Auth: &postmanAuth{Type: "basic", Basic: []postmanPair{{Key: "username", Value: "{{clientId}}", Type: "string"},
			{Key: "password", Value: "{{clientSecret}}", Type: "string"}}},
	}
	for _, section := range view.Sections {
		folder := postmanFolder{Name: section.Name}
		for _, op := range section.Operations {
			for _, e := range requests[op.ID] {
				if e.Samples == nil {
					continue
				}
				name := op.Summary
				if e.Title != "" {
					name += ": " + e.Title
				}
				folder.Item = append(folder.Item, postmanItem{name, newPostmanRequest(op, e)})
			}
		}
		if folder.Item != nil {
			collection.Item = append(collection.Item, folder)
		}
	}
	return collection
}

func newPostmanRequest(op operationView, e requestExample) postmanRequest {
	request := postmanRequest{Method: e.Method, URL: newPostmanURL(op, e.Path)}
	switch {
	case op.Agent:
		request.Auth = &postmanAuth{Type: "bearer", Bearer: []postmanPair{{Key: "token", Value: "{{accessToken}}", Type: "string"}}}
	case op.Public:
		request.Auth = &postmanAuth{Type: "noauth"}
	}
	if e.Method == http.MethodPost && !op.Public {
		request.Header = append(request.Header, postmanPair{Key: "Idempotency-Key", Value: "{{$guid}}"}) // a new one for each request
	}
	for _, name := range sortedKeys(e.Headers) {
		request.Header = append(request.Header, postmanPair{Key: name, Value: e.Headers[name]})
	}
	switch {
	case e.upload == formType && e.Body != nil:
		request.Body = &postmanBody{Mode: "formdata"}
		for _, m := range decodeObject(e.Body) {
			var value string
			if err := json.Unmarshal(m.value.(json.RawMessage), &value); err != nil {
				panic(err) // recorded by a test
			}
			field := postmanPair{Key: m.name, Value: value, Type: "text"}
			if m.name == filePart {
				field = postmanPair{Key: m.name, Src: value, Type: "file"}
			}
			request.Body.FormData = append(request.Body.FormData, field)
		}
	case e.upload == formType:
		request.Body = &postmanBody{Mode: "formdata", FormData: []postmanPair{{Key: filePart, Type: "file"}}}
	case e.upload != "":
		request.Header = append(request.Header, postmanPair{Key: "Content-Type", Value: e.upload})
		request.Body = &postmanBody{Mode: "file", File: map[string]string{}}
	case e.Body != nil:
		request.Header = append(request.Header, postmanPair{Key: "Content-Type", Value: "application/json"})
		request.Body = &postmanBody{Mode: "raw", Raw: string(indentJSON(e.Body)),
			Options: map[string]any{"raw": map[string]string{"language": "json"}}}
	}
	return request
}

func newPostmanURL(op operationView, example string) postmanURL {
	called, query, _ := strings.Cut(example, "?")
	values := strings.Split(called, "/")[1:]
	to := postmanURL{Host: []string{"{{baseUrl}}"}}
	for i, segment := range op.Segments {
		if !segment.Param {
			to.Path = append(to.Path, segment.Text)
			continue
		}
		name := strings.Trim(segment.Text, "{}")
		to.Path = append(to.Path, ":"+name)
		to.Variable = append(to.Variable, postmanPair{Key: name, Value: values[i]})
	}
	to.Raw = "{{baseUrl}}/" + strings.Join(to.Path, "/")
	if query == "" {
		return to
	}
	to.Raw += "?" + query
	for pair := range strings.SplitSeq(query, "&") { // in their order
		name, value, _ := strings.Cut(pair, "=")
		if text, err := url.QueryUnescape(value); err == nil {
			value = text
		}
		to.Query = append(to.Query, postmanPair{Key: name, Value: value})
	}
	return to
}

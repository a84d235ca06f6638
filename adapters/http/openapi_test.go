package httpapi

import (
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"causeway/core/fault"
	"causeway/core/platform"
)

func withoutCredentials(r *http.Request) { r.Header.Del("Authorization") }

func TestOpenAPI_IsComplete(t *testing.T) {
	t.Parallel()
	// The document is public, all its references resolve, and every operation, parameter
	// and field has a description.
	f := newFixture(t)
	got := f.do("GET", "/openapi.json", "", withoutCredentials)
	if got.status != 200 || got.header.Get("Content-Type") != "application/json" {
		t.Fatalf("got %d %v", got.status, got.header)
	}
	var document map[string]any
	if err := json.Unmarshal([]byte(got.body), &document); err != nil {
		t.Fatal(err)
	}

	if document["openapi"] != "3.1.0" || lookup(document, "info", "title") != "Causeway" ||
		lookup(document, "info", "version") != "2025-10-13" {
		t.Errorf("head: %v %v", document["openapi"], document["info"])
	}
	if lookup(document, "components", "securitySchemes", "BasicAuth", "scheme") != "basic" {
		t.Errorf("security schemes: %v", lookup(document, "components", "securitySchemes"))
	}
	for _, reference := range regexp.MustCompile(`"\$ref":"#/([^"]+)"`).FindAllStringSubmatch(got.body, -1) {
		if lookup(document, strings.Split(reference[1], "/")...) == nil {
			t.Errorf("#/%s leads nowhere", reference[1])
		}
	}
	if strings.Contains(got.body, separator) {
		t.Error("a mark of the validator is in the description")
	}
	for path, item := range document["paths"].(map[string]any) {
		for method, op := range item.(map[string]any) {
			if lookup(op, "summary") == nil || lookup(op, "operationId") == nil || lookup(op, "tags") == nil {
				t.Errorf("%s %s: %v", method, path, op)
			}
			if security, ok := lookup(op, "security").([]any); !ok || (len(security) == 0) != (path == "/news") {
				t.Errorf("%s %s: security %v", method, path, security)
			}
			if parameters := fmt.Sprint(lookup(op, "parameters")); (method == "post") != strings.Contains(parameters, "IdempotencyKey") {
				t.Errorf("%s %s: parameters %s", method, path, parameters)
			}
			if lookup(op, "responses", "429") == nil || lookup(op, "responses", "default") != nil {
				t.Errorf("%s %s: responses %v", method, path, lookup(op, "responses"))
			}
		}
	}
}

// lookup returns the value at a path of names.
func lookup(value any, names ...string) any {
	for _, name := range names {
		object, _ := value.(map[string]any)
		value = object[name]
	}
	return value
}

func TestOpenAPI_DescribesOperation(t *testing.T) {
	t.Parallel()
	// Permission, sandbox flag, statuses, error codes and union branches are published.
	f := newFixture(t)
	var document map[string]any
	if err := json.Unmarshal([]byte(f.do("GET", "/openapi.json", "").body), &document); err != nil {
		t.Fatal(err)
	}
	post := lookup(document, "paths", "/parcels", "post")

	for got, want := range map[string]string{
		jsonText(lookup(post, "x-permission")): `"TRANSACT"`,
		jsonText(lookup(post, "responses", "409",
			"description")): `"IDEMPOTENCY_KEY_IN_USE, QUOTE_EXPIRED"`,
		jsonText(lookup(post, "responses", "413",
			"description")): `"PAYLOAD_TOO_LARGE"`,
		jsonText(lookup(post, "responses", "409", "content", "application/json", "schema",
			"$ref")): `"#/components/schemas/Error409"`,
		jsonText(lookup(post, "responses", "201", "content", "application/json", "schema",
			"$ref")): `"#/components/schemas/Parcel"`,
		jsonText(lookup(document, "paths", "/sandbox/parcels/{parcelId}/lose", "post", "x-sandbox-only")): `true`,
		jsonText(lookup(document, "paths", "/parcels", "get", "responses", "200", "content", "application/json", "schema",
			"$ref")): `"#/components/schemas/ParcelListResponse"`,
		jsonText(lookup(document, "components", "schemas", "Error422", "properties", "code", "enum")): `["` +
			string(fault.IdempotencyKeyReused) + `"]`,
		jsonText(lookup(document, "components", "schemas", "RoadWay", "properties", "kind",
			"enum")): `["ROAD","STREET"]`,
		jsonText(lookup(document, "components", "schemas", "Problem")): `null`,
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if forms := waySchema(document); !strings.Contains(forms, "#/components/schemas/RoadWay") ||
		!strings.Contains(forms, `"propertyName":"kind"`) {
		t.Errorf("the union is described as %s", forms)
	}
}

// waySchema returns the property way of the body of sendParcel.
func waySchema(document map[string]any) string {
	for name, schema := range lookup(document, "components", "schemas").(map[string]any) {
		if way := lookup(schema, "properties", "way"); way != nil {
			return name + jsonText(way)
		}
	}
	return ""
}

func jsonText(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestStaticFile_CompressionAndETag(t *testing.T) {
	t.Parallel()
	// The document is compressed for clients that accept gzip, and 304 for clients that
	// have it.
	f := newFixture(t)
	for _, path := range []string{"/openapi.json", "/docs"} {
		plain := f.do("GET", path, "", withoutCredentials)
		packed := f.do("GET", path, "", withoutCredentials, withHeader("Accept-Encoding", "br, gzip"))
		same := f.do("GET", path, "", withoutCredentials, withHeader("If-None-Match", plain.header.Get("Etag")))

		z, err := gzip.NewReader(strings.NewReader(packed.body))
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := io.ReadAll(z)
		if err != nil || string(unpacked) != plain.body || packed.header.Get("Content-Encoding") != "gzip" ||
			len(packed.body) >= len(plain.body)/2 {
			t.Errorf("%s: %d packed into %d, %v", path, len(plain.body), len(packed.body), err)
		}
		if same.status != 304 || same.body != "" {
			t.Errorf("%s again: %d with %d bytes", path, same.status, len(same.body))
		}
	}
}

func TestReferencePage_IsSelfContained(t *testing.T) {
	t.Parallel()
	// The page shows every operation with a curl command, loads nothing from elsewhere,
	// and allows only its own style and script.
	f := newUnbuiltFixture(t)
	Webhook[parcelBody](f.API, "parcelWebhook", "Parcels", "Receive parcel events", "Sent when `a parcel` arrives.")
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}
	got := f.do("GET", "/docs", "", withoutCredentials)
	if got.status != 200 || !strings.HasPrefix(got.header.Get("Content-Type"), "text/html") {
		t.Fatalf("got %d %v", got.status, got.header)
	}

	for _, want := range []string{
		`id="sendParcel"`, `id="parcelWebhook"`, "Sent when <code>a parcel</code> arrives.", "requires TRANSACT", "sandbox only", "QUOTE_EXPIRED",
		`href="#object-RoadWay"`, `id="object-RobotDriver"`, "curl -X POST &#39;http://localhost:8080/2025-10-13/parcels&#39;",
		"a plate such as AB123", "1 to 9,000,000,000,000,000", ">optional<", `<var>{parcelId}</var>`,
	} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %s", want)
		}
	}
	if outside := regexp.MustCompile(`(?:src|href)="(?:https?:)?//[^"]*"|@import|url\(`).FindString(got.body); outside != "" {
		t.Errorf("the page needs %s", outside)
	}
	if strings.Contains(got.body, "ZgotmplZ") || strings.Contains(got.body, "&lt;no value&gt;") {
		t.Error("the template met a value it could not show")
	}
	policy := got.header.Get("Content-Security-Policy")
	for _, element := range []string{"style", "script"} {
		m := regexp.MustCompile(`(?s)<`+element+`>(.*?)</`+element+`>`).FindAllStringSubmatch(got.body, -1)
		if len(m) != 1 {
			t.Fatalf("%d %s blocks", len(m), element)
		}
		sum := sha256.Sum256([]byte(m[0][1]))
		if !strings.Contains(policy, element+"-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'") {
			t.Errorf("the policy %s does not allow the page's own %s", policy, element)
		}
	}
}

func TestReferencePage_ShowsBodyThatIsUnion(t *testing.T) {
	t.Parallel()
	// A body that has one of several forms links to each of them.
	f := newUnbuiltFixture(t)
	type input struct{ Body Union[ways] }
	Post(f.API, Operation{ID: "planWay", Path: "/ways", Summary: "Plan a way", Tag: "Parcels", Permission: platform.Transact},
		func(_ context.Context, _ Call, _ *input) (parcel, error) { return parcel{}, nil }, renderParcel)
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}

	page := f.do("GET", "/docs", "", withoutCredentials).body
	_, operation, _ := strings.Cut(page, `<article class="operation" id="planWay">`)
	operation, _, _ = strings.Cut(operation, "</article>")
	for _, want := range []string{"<h4>Request body</h4>", `<a href="#object-RoadWay">ROAD</a>`, `<a href="#object-SeaWay">SEA</a>`} {
		if !strings.Contains(operation, want) {
			t.Errorf("no %s in %s", want, operation)
		}
	}
}

func TestMarkdown(t *testing.T) {
	t.Parallel()
	// The supported Markdown becomes HTML, and everything else is escaped.
	for source, want := range map[string]string{
		"":                              "",
		"One.":                          "<p>One.</p>",
		"One\ntwo.\n\nThree.":           "<p>One\ntwo.</p>\n<p>Three.</p>",
		"Either:\n- `a<b`\n- **b** & c": "<p>Either:</p>\n<ul>\n<li><code>a&lt;b</code></li>\n<li><strong>b</strong> &amp; c</li>\n</ul>",
		"- a\n- b\n\nc":                 "<ul>\n<li>a</li>\n<li>b</li>\n</ul>\n<p>c</p>",
		"<script>alert(1)</script>":     "<p>&lt;script&gt;alert(1)&lt;/script&gt;</p>",
		"[a](https://x.example/?b=1&c) [b](javascript:alert(1))": `<p><a href="https://x.example/?b=1&amp;c">a</a> <a href="">b</a></p>`,
	} {
		if got := string(markdown(source)); got != want {
			t.Errorf("%q = %s, want %s", source, got, want)
		}
	}
	if got := string(
		highlight(
			[]byte(
				`{"a<": "b\"c", "n": -1.5e3}`))); got != `{<i class="k">&#34;a&lt;&#34;:</i> <i class="s">&#34;b\&#34;c&#34;</i>, <i class="k">&#34;n&#34;:</i> <i class="n">-1.5e3</i>}` {
		t.Errorf("highlighted %s", got)
	}
	for digits, want := range map[string]string{"5": "5", "100": "100", "1000": "1,000", "9000000": "9,000,000", "-100": "-100",
		"-1000": "-1,000", "1234.5": "1234.5"} {
		if got := groupDigits(digits); got != want {
			t.Errorf("grouped(%s) = %s, want %s", digits, got, want)
		}
	}
}

func TestUndescribed_ListsMissingDescriptions(t *testing.T) {
	t.Parallel()
	// Operations, parameters and fields without a description are listed.
	f := newUnbuiltFixture(t)
	Get(f.API, Operation{ID: "peek", Path: "/peek", Summary: "Peek", Tag: "Parcels", Permission: platform.View,
		Description: "Returns a parcel."},
		func(context.Context, Call, *struct {
			Dark  string `query:"dark"`
			Light string `query:"light" doc:"Shines."`
		}) (int, error) {
			return 0, nil
		}, func(int) shade { return shade{} })
	if err := f.Build(); err != nil {
		t.Fatal(err)
	}

	list := strings.Join(f.Undescribed(), "\n")

	for _, want := range []string{"GET /peek dark", "Shade.dark", "GET /news"} {
		if !strings.Contains(list, want) {
			t.Errorf("no %s in\n%s", want, list)
		}
	}
	for _, described := range []string{"light", "Error", "Parcel.", "limit"} {
		if strings.Contains(list, described) {
			t.Errorf("%s in\n%s", described, list)
		}
	}
}

type shade struct {
	Dark  string `json:"dark"`
	Light string `json:"light" doc:"Shines."`
}

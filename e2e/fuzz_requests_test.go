package e2e

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"mime/multipart"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"
)

// fuzzRequest is a generated request.
type fuzzRequest struct {
	operation   *fuzzOperation
	method      string
	path, query string // as sent
	header      map[string][]string
	body        []byte // nil sends none
}

func (r fuzzRequest) String() string {
	text := r.method + " " + r.path
	if r.query != "" {
		text += "?" + r.query
	}
	return fmt.Sprintf("%.600s %v %.1500q", text, r.header, r.body)
}

// fuzzOperation is the description of an operation, as far as the generator needs it.
type fuzzOperation struct {
	id, method, path string
	parameters       []map[string]any
	body             map[string]any // the schema of each content type
	responses        map[string]any
	forAgents        bool           // refuses the token of a platform
	maxResponse      time.Duration  // as the description says; zero if it says nothing
	calls            []recordedCall // valid ones
}

// declaredDuration is how descriptions say how long an operation may take.
var declaredDuration = regexp.MustCompile(`\btakes? up to (\d+) (second|minute)s\b`)

func maxResponseOf(description string) time.Duration {
	found := declaredDuration.FindStringSubmatch(description)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1])
	return time.Duration(n) * map[string]time.Duration{"second": time.Second, "minute": time.Minute}[found[2]]
}

// fuzzOperations reads the operations of a published description, in a fixed order.
func fuzzOperations(description apiResponse) []*fuzzOperation {
	shared, _ := description.value("components.parameters").(map[string]any)
	var found []*fuzzOperation
	paths, _ := description.value("paths").(map[string]any)
	for path, item := range paths {
		for method, described := range item.(map[string]any) {
			raw := described.(map[string]any)
			op := &fuzzOperation{method: strings.ToUpper(method), path: path, body: map[string]any{}}
			op.id, _ = raw["operationId"].(string)
			if security, _ := raw["security"].([]any); len(security) == 1 {
				_, op.forAgents = security[0].(map[string]any)["AgentAuth"]
			}
			text, _ := raw["description"].(string)
			op.maxResponse = maxResponseOf(text)
			op.responses, _ = raw["responses"].(map[string]any)
			parameters, _ := raw["parameters"].([]any)
			for _, p := range parameters {
				parameter := p.(map[string]any)
				if reference, ok := parameter["$ref"].(string); ok {
					parameter = shared[reference[strings.LastIndexByte(reference, '/')+1:]].(map[string]any)
				}
				op.parameters = append(op.parameters, parameter)
			}
			if body, ok := raw["requestBody"].(map[string]any); ok {
				for contentType, media := range body["content"].(map[string]any) {
					op.body[contentType] = media.(map[string]any)["schema"]
				}
			}
			found = append(found, op)
		}
	}
	slices.SortFunc(found, func(a, b *fuzzOperation) int { return strings.Compare(a.id, b.id) })
	return found
}

// valuePool holds values that the service has returned, so that requests name what exists.
type valuePool struct {
	mu     sync.Mutex
	values map[string][]string // by the type of an id, or the name of a field
	avoid  map[string]bool     // what requests must not name, such as the token that sends them
}

func newValuePool() *valuePool {
	return &valuePool{values: map[string][]string{}, avoid: map[string]bool{}}
}

// pooledFields are fields whose values other requests need.
var pooledFields = map[string]string{"reference": "reference", "nextCursor": "cursor", "month": "month", "path": "account",
	"number": "number", "platformCustomerId": "platformCustomerId", "umaAddress": "umaAddress", "lookupId": "lookupId"}

var idText = regexp.MustCompile(`[A-Z][A-Za-z]+:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

const maxPooled = 60

// learnCalls collects the values of recorded requests and responses.
func (p *valuePool) learnCalls(calls []recordedCall) {
	r := rand.New(rand.NewPCG(0, 0))
	for _, call := range calls {
		p.learn(r, map[string]any{"": call.path + " " + call.body})
		if json.Valid(call.response) {
			p.learn(r, mustDecode(string(call.response)))
		}
	}
}

// addCalls adds the recorded calls to their operations.
func (s *exampleRecorder) addCalls(operations []*fuzzOperation) {
	for _, op := range operations {
		for _, call := range s.calls {
			if call.operation == op.id {
				op.calls = append(op.calls, call)
			}
		}
	}
}

// learn collects the values of a response.
func (p *valuePool) learn(r *rand.Rand, value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, inner := range v {
			if text, ok := inner.(string); ok && text != "" {
				if kind, ok := pooledFields[name]; ok {
					p.add(r, kind, text)
				}
				for _, id := range idText.FindAllString(text, -1) {
					p.add(r, idType(id), id)
				}
			}
			p.learn(r, inner)
		}
	case []any:
		for _, inner := range v {
			p.learn(r, inner)
		}
	}
}

func idType(id string) string { return id[:strings.IndexByte(id, ':')] }

func (p *valuePool) add(r *rand.Rand, kind, value string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	known := p.values[kind]
	switch {
	case p.avoid[value] || slices.Contains(known, value):
	case len(known) < maxPooled:
		p.values[kind] = append(known, value)
	default:
		known[r.IntN(maxPooled)] = value
	}
}

// pick returns a value; empty if there is none.
func (p *valuePool) pick(r *rand.Rand, kind string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.values[kind]; len(known) > 0 {
		return known[r.IntN(len(known))]
	}
	return ""
}

// generator makes requests from the description.
type generator struct {
	r          *rand.Rand
	components map[string]any
	pool       *valuePool
}

func (g *generator) chance(p float64) bool { return g.r.Float64() < p }

func pickOne[T any](g *generator, list []T) T { return list[g.r.IntN(len(list))] }

// request makes a request to an operation: valid as far as the description says, and then
// perhaps changed.
func (g *generator) request(op *fuzzOperation) fuzzRequest {
	request := fuzzRequest{operation: op, method: op.method, header: map[string][]string{}}
	var body any
	contentType := ""
	if len(op.calls) > 0 && g.chance(0.4) {
		call := pickOne(g, op.calls)
		request.path, request.query, _ = strings.Cut(call.path, "?")
		if call.bearer != "" {
			request.header["Authorization"] = []string{"Bearer " + call.bearer}
		}
		if g.chance(0.5) {
			request.path, request.query = g.replaceIDs(request.path), g.replaceIDs(request.query)
		}
		if call.body != "" {
			contentType = call.uploadType
			if body = any(call.body); contentType == "" {
				contentType = "application/json"
				body = mustDecode(g.replaceIDs(call.body))
			}
		}
	} else {
		request.path, request.query = g.address(op)
		if len(op.body) > 0 {
			contentType = pickOne(g, sortedKeysOf(op.body))
			body = g.value(op.body[contentType], "body", 0)
		}
	}
	if op.method == "POST" && g.chance(0.3) {
		request.header["Idempotency-Key"] = []string{uuid.NewString()}
		if g.chance(0.15) { // used before
			request.header["Idempotency-Key"] = []string{fmt.Sprint("key-", g.r.IntN(50))}
		}
	}
	changed := g.chance(0.6)
	if object, ok := body.(map[string]any); ok && changed && g.chance(0.7) {
		for range 1 + g.r.IntN(2) {
			body = g.changeValue(object)
		}
	}
	request.body, contentType = g.encode(body, contentType)
	if contentType != "" {
		request.header["Content-Type"] = []string{contentType}
	}
	if changed && g.chance(0.5) {
		g.changeRequest(&request)
	}
	return request
}

// address returns a path and a query.
func (g *generator) address(op *fuzzOperation) (path, query string) {
	path = op.path
	values := url.Values{}
	for _, p := range op.parameters {
		name, _ := p["name"].(string)
		switch p["in"] {
		case "path":
			path = strings.ReplaceAll(path, "{"+name+"}", url.PathEscape(cmp.Or(fmt.Sprint(g.value(p["schema"], name, 0)), "x")))
		case "query":
			if p["required"] != true && !g.chance(0.35) {
				continue
			}
			value := g.value(p["schema"], name, 0)
			list, isList := value.([]any)
			if !isList {
				list = []any{value}
			}
			for _, item := range list {
				values.Add(name, fmt.Sprint(item))
			}
		}
	}
	return path, values.Encode()
}

// replaceIDs replaces some ids by others of their type.
func (g *generator) replaceIDs(text string) string {
	return idText.ReplaceAllStringFunc(text, func(id string) string {
		if other := g.pool.pick(g.r, idType(id)); other != "" && g.chance(0.5) {
			return other
		}
		return id
	})
}

const maxGeneratedDepth = 6

// value makes a value that matches a schema, as far as the description says.
func (g *generator) value(schema any, name string, depth int) any {
	s, _ := schema.(map[string]any)
	if reference, ok := s["$ref"].(string); ok {
		return g.value(g.components[strings.TrimPrefix(reference, "#/components/schemas/")], name, depth)
	}
	if forms, ok := s["oneOf"].([]any); ok {
		return g.value(pickOne(g, forms), name, depth+1)
	}
	if values, ok := s["enum"].([]any); ok {
		return pickOne(g, values)
	}
	switch s["type"] {
	case "object":
		return g.object(s, depth)
	case "array":
		list := []any{}
		for range g.r.IntN(4) {
			list = append(list, g.value(s["items"], name, depth+1))
		}
		return list
	case "integer", "number":
		return g.number(s)
	case "boolean":
		return g.chance(0.5)
	case "string":
		return g.text(s, name)
	}
	return pickOne(g, []any{"text", true, json.Number("1"), map[string]any{}})
}

func (g *generator) object(s map[string]any, depth int) any {
	object := map[string]any{}
	required, _ := s["required"].([]any)
	properties, _ := s["properties"].(map[string]any)
	for _, name := range sortedKeysOf(properties) {
		if slices.Contains(required, any(name)) || depth < maxGeneratedDepth && g.chance(0.4) {
			object[name] = g.value(properties[name], name, depth+1)
		}
	}
	if values, ok := s["additionalProperties"].(map[string]any); ok {
		for range g.r.IntN(3) {
			object[pickOne(g, []string{"FULL_NAME", "BIRTH_DATE", "x"})] = g.value(values, "", depth+1)
		}
	}
	return object
}

func (g *generator) number(s map[string]any) any {
	low, high := int64(0), int64(1_000_000)
	for name, limit := range map[string]*int64{"minimum": &low, "maximum": &high} {
		if n, ok := s[name].(json.Number); ok {
			if value, err := n.Float64(); err == nil {
				*limit = int64(value)
			}
		}
	}
	switch g.r.IntN(6) {
	case 0:
		return json.Number(fmt.Sprint(low))
	case 1:
		return json.Number(fmt.Sprint(high))
	case 2:
		return json.Number(fmt.Sprint(low + g.r.Int64N(max(1, high-low))))
	}
	return json.Number(fmt.Sprint(min(high, low+g.r.Int64N(20_000))))
}

func (g *generator) text(s map[string]any, name string) any {
	pattern, _ := s["pattern"].(string)
	for _, kind := range append(patternTypes(pattern), name) {
		if known := g.pool.pick(g.r, kind); known != "" && g.chance(0.9) {
			return known
		}
	}
	if examples, ok := s["examples"].([]any); ok && g.chance(0.6) {
		return pickOne(g, examples)
	}
	switch s["format"] {
	case "date-time":
		return time.Now().UTC().Add(time.Duration(g.r.Int64N(int64(2000*time.Hour))) - 1500*time.Hour).Format(time.RFC3339)
	case "date":
		return time.Now().UTC().AddDate(0, 0, -g.r.IntN(20000)).Format(time.DateOnly)
	case "email":
		return "ana@example.com"
	case "uri":
		return "http://127.0.0.1:9/hook"
	case "binary":
		return pickOne(g, []string{"Booked,Amount,Ref,Text\n2026-01-02,-3.00,,Fee\n", "<Document/>", ":20:X\n:60F:C260101USD0,\n", ""})
	}
	if pattern != "" {
		return rapid.StringMatching(pattern).Example(g.r.IntN(1 << 30))
	}
	return pickOne(g, []string{"text", "USD", "2026-03", "rails/RTP", "é ü 漢字 🙂", "a", strings.Repeat("b", 200)})
}

// patternTypes returns the types of ids that a pattern matches.
func patternTypes(pattern string) []string {
	text := strings.TrimPrefix(pattern, "^")
	if rest, ok := strings.CutPrefix(text, "(Internal|External)Account:"); ok && rest != "" {
		return []string{"InternalAccount", "ExternalAccount"}
	}
	if rest, ok := strings.CutPrefix(text, "(Customer|BeneficialOwner):"); ok && rest != "" {
		return []string{"Customer", "BeneficialOwner"}
	}
	kind, _, ok := strings.Cut(text, ":")
	if !ok || strings.ContainsFunc(kind, func(c rune) bool { return !(c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z') }) {
		return nil
	}
	return []string{kind}
}

// hostile are values that no field expects.
var hostile = []any{nil, "", " ", true, []any{}, map[string]any{}, []any{map[string]any{"a": nil}}, "\x00", "a\x00b",
	"\u202etxet", "é́́́", "🙂🙂🙂",
	"'; DROP TABLE quotes; --", "%s%n%d", "../../etc/passwd", "<script>alert(1)</script>", "\r\nX-Injected: 1", "NaN", "Customer:",
	"Customer:00000000-0000-0000-0000-000000000000",
	strings.Repeat("x", 20_000), strings.Repeat("漢", 300), "9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z", "0001-01-01T00:00:00+23:59",
	"2026-02-30", "12345-01", "-1",
	json.Number("-1"), json.Number("0"), json.Number("1"), json.Number("1.5"), json.Number("1e3"), json.Number("1e400"), json.Number("-0"),
	json.Number("1e-400"),
	json.Number("9007199254740993"), json.Number("9223372036854775807"), json.Number("9223372036854775808"),
	json.Number("99999999999999999999999999999999"), json.Number("0.1")}

// hostileValue returns one of them, or a deeply nested value.
func (g *generator) hostileValue() any {
	if g.chance(0.03) {
		var deep any = "x"
		for range 10 + g.r.IntN(200) {
			deep = map[string]any{"a": []any{deep}}
		}
		return deep
	}
	return pickOne(g, hostile)
}

// changeValue replaces, removes or adds one field somewhere in an object.
func (g *generator) changeValue(object map[string]any) any {
	if len(object) == 0 || g.chance(0.05) {
		return g.hostileValue()
	}
	target := object
	name := pickOne(g, sortedKeysOf(target))
	for g.chance(0.7) {
		inner, ok := target[name].(map[string]any)
		if !ok || len(inner) == 0 {
			break
		}
		target = inner
		name = pickOne(g, sortedKeysOf(target))
	}
	switch g.r.IntN(5) {
	case 0:
		delete(target, name)
	case 1:
		target[pickOne(g, []string{"unknown", name + "s", strings.ToUpper(name), "ключ", ""})] = g.hostileValue()
	default:
		target[name] = g.hostileValue()
	}
	return object
}

// encode returns the body of a request and its content type.
func (g *generator) encode(body any, contentType string) ([]byte, string) {
	switch {
	case contentType == "":
		return nil, ""
	case contentType == "application/json":
		text, err := json.Marshal(body)
		if err != nil {
			panic(err) // generated values always marshal
		}
		return text, contentType
	case contentType == "multipart/form-data":
		var text bytes.Buffer
		form := multipart.NewWriter(&text)
		fields, _ := body.(map[string]any)
		for _, name := range sortedKeysOf(fields) {
			_ = form.WriteField(name, fmt.Sprint(fields[name])) // a buffer accepts every write
		}
		_ = form.Close()
		return text.Bytes(), form.FormDataContentType()
	}
	return fmt.Append(nil, body), contentType
}

// changeRequest changes a part of a request other than the values of its body.
func (g *generator) changeRequest(request *fuzzRequest) {
	text, _ := pickOne(g, hostile).(string)
	switch g.r.IntN(15) {
	case 0:
		request.header["Content-Type"] = []string{pickOne(g, []string{"text/plain", "application/xml", "multipart/form-data",
			"multipart/form-data; boundary=x", "application/json; charset=latin1", ";", "a/b/c"})}
	case 1:
		delete(request.header, "Content-Type")
	case 2:
		if len(request.body) > 0 { // cut
			request.body = request.body[:g.r.IntN(len(request.body))]
		}
	case 3:
		if len(request.body) > 0 { // one wrong byte
			request.body = slices.Clone(request.body)
			request.body[g.r.IntN(len(request.body))] = byte(g.r.IntN(256))
		}
	case 4:
		request.body = append(slices.Clone(request.body), pickOne(g, []string{"{}", " ", "\x00", "]"})...)
	case 5:
		request.body = []byte(strings.Repeat("[", 1+g.r.IntN(100_000)))
	case 6:
		request.query = join(request.query, pickOne(g, []string{"limit", "limt", "cursor", "customerId", "startDate", "sortOrder", "x", "from",
			"currency", "month"})+"="+url.QueryEscape(text))
	case 7:
		if parts := strings.Split(request.query, "&"); request.query != "" { // repeated
			request.query = join(request.query, pickOne(g, parts))
		}
	case 8:
		if name, _, ok := strings.Cut(pickOne(g, strings.Split(request.query, "&")), "="); ok {
			request.query = name + "=" + url.QueryEscape(text)
		}
	case 9:
		request.query = join(request.query, pickOne(g, []string{"%", "%zz", "a=%ff", "a=%00", ";", "&&&", "=", "a[b]=c", "a%00=1"}))
	case 10:
		segments := strings.Split(request.path, "/")
		i := 1 + g.r.IntN(len(segments)-1)
		segments[i] = cmp.Or(url.PathEscape(text), "x")
		request.path, request.operation = strings.Join(segments, "/"), nil
	case 11:
		request.header["Idempotency-Key"] = pickOne(g, [][]string{{""}, {"a", "b"}, {strings.Repeat("k", 300)}, {"é"}, {"\t"}})
	case 12:
		request.header["Authorization"] = pickOne(g, [][]string{{""}, {"Basic"}, {"Basic !"}, {"Bearer x"}, {"Basic Og=="},
			{"Basic YQ==", "Basic YQ=="}})
	case 13:
		request.header[pickOne(g, []string{"Request-Id", "X-Forwarded-For", "Accept", "Accept-Encoding", "Service-Wallet-Signature",
			"Content-Encoding", "If-None-Match"})] =
			[]string{pickOne(g, []string{"", "x", uuid.NewString(), "gzip", "*/*", strings.Repeat("1.2.3.4, ", 300)})}
	case 14:
		request.method, request.operation = pickOne(g, []string{"PUT", "OPTIONS", "TRACE", "PROPFIND", "get"}), nil
	}
}

func join(query, more string) string {
	if query == "" {
		return more
	}
	return query + "&" + more
}

func sortedKeysOf[V any](m map[string]V) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func mustDecode(text string) (value any) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&value); err != nil {
		panic(err) // recorded requests are JSON
	}
	return value
}

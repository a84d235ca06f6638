package uma

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

// toServer sends every request to a server of the test.
type toServer struct{ url *url.URL }

func (s toServer) RoundTrip(r *http.Request) (*http.Response, error) {
	r.URL.Scheme, r.URL.Host = s.url.Scheme, s.url.Host
	return http.DefaultTransport.RoundTrip(r)
}

func TestClient_HostileAnswers(t *testing.T) {
	t.Parallel()
	// An answer that is too large, or never ends, is not waited for, and no redirect is followed.
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/large":
			_, _ = w.Write(make([]byte, maxBody+1))
		case "/slow":
			_, _ = w.Write([]byte("{"))
			_ = http.NewResponseController(w).Flush()
			<-r.Context().Done()
		case "/redirect":
			http.Redirect(w, r, "http://169.254.169.254/latest/meta-data", http.StatusFound)
		default:
			_, _ = w.Write(make([]byte, maxBody))
		}
	}))
	t.Cleanup(server.Close)
	target, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	client := NewClient(func(http.RoundTripper) http.RoundTripper { return toServer{target} })
	if answer, err := client.get(t.Context(), "https://pay.test/", time.Minute); err != nil || len(answer.body) != maxBody {
		t.Errorf("%d bytes, %v", len(answer.body), err)
	}
	if answer, err := client.get(t.Context(), "https://pay.test/redirect", time.Minute); err != nil || answer.status != http.StatusFound {
		t.Errorf("a redirect: %d, %v", answer.status, err)
	}
	if _, err := client.get(t.Context(), "https://pay.test/large", time.Minute); err == nil || !strings.Contains(err.Error(), "bytes") {
		t.Errorf("too large: %v", err)
	}
	if _, err := client.get(t.Context(), "https://pay.test/slow", 200*time.Millisecond); err == nil ||
		err.Error() != "there is no answer in time" {
		t.Errorf("without an end: %v", err)
	}
}

func TestClient_SaysNothingOfTheNetworkOfTheService(t *testing.T) {
	t.Parallel()
	// Who names a private address, in whatever form, learns nothing of it.
	client := NewClient(nil)
	for _, host := range []string{"127.0.0.1:1", "10.0.0.1", "169.254.169.254", "[::1]", "[::ffff:10.0.0.1]", "localhost"} {
		if _, err := client.get(t.Context(), "https://"+host+"/", 5*time.Second); err == nil || err.Error() != "its host cannot be reached" {
			t.Errorf("%s: %v", host, err)
		}
	}
	for _, target := range []string{"http://pay.test/", "https://a@pay.test/", "https:///x", "file:///etc/passwd", "gopher://pay.test",
		"https://pay.test\\@127.0.0.1/", "https://pay.test/" + strings.Repeat("a", 2000)} {
		if err := checkURL(target); err == nil {
			t.Errorf("%.60s is asked", target)
		}
	}
}

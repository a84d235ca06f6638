package e2e

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// upload uploads a document of a holder with a file.
func (h *testEnv) upload(holder, fileName string, file []byte, key string) apiResponse {
	h.t.Helper()
	fields, err := json.Marshal(map[string]string{"documentHolder": holder, "documentType": "UTILITY_BILL", "country": "US", "file": fileName})
	if err != nil {
		h.t.Fatal(err)
	}
	by := h.withHeader("Content-Type", formContentType)
	if key != "" {
		by = by.withHeader("Idempotency-Key", key)
	}
	return by.call("POST", "/documents", formBody(h.t, string(fields), file))
}

// largePDF returns a PDF file of a size, whose content cannot be packed.
func largePDF(t testing.TB, size int) []byte {
	t.Helper()
	const start, end = "%PDF-1.7\n1 0 obj\n<< /Length 9 >>\nstream\n", "\nendstream\nendobj\ntrailer\n<< /Root 1 0 R >>\nstartxref\n9\n%%EOF"
	content := make([]byte, size-len(start)-len(end))
	if _, err := rand.Read(content); err != nil {
		t.Fatal(err)
	}
	for i, b := range content { // no names
		if b == '/' || b == 's' {
			content[i] = 'x'
		}
	}
	return bytes.Join([][]byte{[]byte(start), content, []byte(end)}, nil)
}

// storedFiles returns the paths of the files in a folder, partial ones too.
func storedFiles(t testing.TB, folder string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func (h *testEnv) query(sql string, args ...any) (count int) {
	h.t.Helper()
	ctx := waitContext(h.t)
	conn, err := pgx.Connect(ctx, h.databaseURL)
	if err != nil {
		h.t.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	if err := conn.QueryRow(ctx, sql, args...).Scan(&count); err != nil {
		h.t.Fatal(err)
	}
	return count
}

func TestDocuments_KilledDuringUploads(t *testing.T) {
	t.Parallel()
	// A process is killed while documents are uploaded. Every document that was answered is there, with
	// its file; each upload that was not is repeated with its key and is there once. Files that belong
	// to no document, whole or partial, are deleted when their time has come, and nothing else.
	h := newDatabaseEnv(t)
	folder := t.TempDir()
	start := func() *process { return startServer(t, h.databaseURL, "--blobs", "folder:"+folder) }
	h.server = start()
	h.tenant = h.createPlatform("Documents", "SANDBOX", "--regulated")
	holder := h.createCustomer()
	const uploads = 12
	files := make([][]byte, uploads)
	for i := range files {
		files[i] = largePDF(t, 3<<20+i)
	}
	answers := make(chan int, uploads)
	for i := range files {
		go func() {
			if got, err := h.tryUpload(holder, files[i], fmt.Sprintf("document-%d", i)); err == nil && got == http.StatusCreated {
				answers <- i
				return
			}
			answers <- -1
		}()
	}
	answered := []int{<-answers, <-answers, <-answers}
	h.server.kill()
	for range uploads - len(answered) {
		answered = append(answered, <-answers)
	}
	// What a process leaves that is killed in the middle of a file.
	platformFolder := filepath.Dir(storedFiles(t, folder)[0])
	lost := "019f0000-0000-7000-8000-000000000001"
	if err := os.WriteFile(filepath.Join(platformFolder, lost+".partial"), []byte("half"), 0o600); err != nil {
		t.Fatal(err)
	}

	h.server = start()
	h.BaseURL = h.server.baseURL
	_ = h.query(
		`INSERT INTO jobs (platform_id, id, step, due_at, subjects) SELECT id, $1, 'delete-blob', now() + interval '1 day', ARRAY[$1]::uuid[] FROM platforms RETURNING 1`, lost)
	for i, file := range files {
		got := h.upload(holder, "bill.pdf", file, fmt.Sprintf("document-%d", i)).wantStatus(201)
		if replayed := got.header.Get("Idempotent-Replayed") == "true"; slices.Contains(answered, i) && !replayed {
			t.Errorf("document %d was answered and is uploaded again", i)
		}
	}

	if n := len(h.get("/documents?limit=100&documentHolder=" + holder).wantStatus(200).list("data")); n != uploads {
		t.Errorf("%d documents, want %d", n, uploads)
	}
	_ = h.query(`WITH due AS (UPDATE jobs SET due_at = now() WHERE step = 'delete-blob' RETURNING 1) SELECT count(*) FROM due`)
	eventually(t, "the deletion of files without a document",
		func() bool { return h.query(`SELECT count(*) FROM jobs WHERE step = 'delete-blob'`) == 0 })
	if left := storedFiles(t, folder); len(left) != uploads {
		t.Errorf("%d files are left, want %d: %q", len(left), uploads, left)
	}
	env := []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey, "CAUSEWAY_BLOBS=folder:" + folder}
	for i, d := range h.get("/documents?limit=100&documentHolder=" + holder).wantStatus(200).list("data") {
		output := filepath.Join(t.TempDir(), fmt.Sprintf("%d.pdf", i))
		mustRunCommand(t, env, "documents", "show", d.(map[string]any)["id"].(string), "--file", output, "--actor", "ana")
		content, err := os.ReadFile(output)
		if err != nil || !slices.ContainsFunc(files, func(file []byte) bool { return bytes.Equal(file, content) }) {
			t.Errorf("%s has %d bytes that were not uploaded, %v", output, len(content), err)
		}
	}
}

// tryUpload uploads a document and returns the status, or an error if there is no response.
func (h *testEnv) tryUpload(holder string, file []byte, key string) (status int, err error) {
	fields := fmt.Sprintf(`{"documentHolder": %q, "documentType": "UTILITY_BILL", "country": "US", "file": "bill.pdf"}`, holder)
	r, err := http.NewRequest(http.MethodPost, h.BaseURL+"/documents", strings.NewReader(formBody(h.t, fields, file)))
	if err != nil {
		return 0, err
	}
	r.SetBasicAuth(h.ClientID, h.ClientSecret)
	r.Header.Set("Content-Type", formContentType)
	r.Header.Set("Idempotency-Key", key)
	got, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	return got.StatusCode, got.Body.Close()
}

func TestDocuments_CommandsShowWhatIsStored(t *testing.T) {
	t.Parallel()
	// An operator lists the documents of a customer and opens one, also after it was submitted and
	// replaced. The files are encrypted on disk, and who opened one is recorded.
	h := newTestEnv(t)
	holder := h.createCustomer()
	photo := passportPhoto()
	id := h.upload(holder, "../../photo.png", photo, "").wantStatus(201).text("id")
	if name := h.get("/documents/" + id).wantStatus(200).text("fileName"); name != "photo.png" {
		t.Errorf("the file name is %q", name)
	}
	u, err := url.Parse(h.databaseURL)
	if err != nil {
		t.Fatal(err)
	}
	folder, _ := blobsFolders.Load(u.Path)
	env := []string{"DATABASE_URL=" + h.databaseURL, "CAUSEWAY_MASTER_KEY=" + masterKey, "CAUSEWAY_BLOBS=folder:" + folder.(string)}
	for _, path := range storedFiles(t, folder.(string)) {
		if content, err := os.ReadFile(path); err != nil || bytes.Contains(content, []byte("IHDR")) {
			t.Errorf("%s is not encrypted, %v", path, err)
		}
	}
	_ = h.query(`WITH submitted AS (UPDATE documents SET submitted_at = now() RETURNING 1) SELECT count(*) FROM submitted`)
	if got := h.call("DELETE", "/documents/"+id, nil); got.status != http.StatusConflict {
		t.Errorf("a submitted document is deleted: %d %s", got.status, got.body)
	}
	replaced := h.withHeader("Content-Type", formContentType).call("PUT", "/documents/"+id,
		formBody(t, `{"documentType": "UTILITY_BILL", "country": "US", "file": "bill.pdf"}`, largePDF(t, 5000)))
	replaced.wantStatus(200)

	list := mustRunCommand(t, env, "documents", "list", holder)
	lines := strings.Split(strings.TrimSpace(list), "\n")
	if len(lines) != 3 || strings.Count(list, "replaced") != 1 || strings.Count(list, "current") != 1 {
		t.Fatalf("listed\n%s", list)
	}
	kept := strings.Fields(lines[slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, "replaced") })])[0]
	output := filepath.Join(t.TempDir(), "photo.png")
	shown := mustRunCommand(t, env, "documents", "show", kept, "--file", output, "--actor", "ana")

	if content, err := os.ReadFile(output); err != nil || !bytes.Equal(content, photo) || !strings.Contains(shown, output) {
		t.Errorf("opened %d bytes, %v\n%s", len(content), err, shown)
	}
	if info, err := os.Stat(output); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if n := h.query(`SELECT count(*) FROM operator_actions WHERE action = 'OPEN_DOCUMENT' AND subject = $1 AND actor = 'ana'`, kept); n != 1 {
		t.Errorf("%d actions are recorded", n)
	}
	if _, errOut, status := runCommand(t, env, "documents", "show", kept, "--file", output, "--actor", "ana"); status == 0 ||
		!strings.Contains(errOut, "exists") {
		t.Errorf("an existing file is replaced: %d %s", status, errOut)
	}
}

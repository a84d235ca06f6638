// Package check reads the files of deploy with the programs' own parsers. It is a module of its own, because those need many modules
// that the service does not.
package check

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"path/filepath"
	"slices"
	"testing"

	"github.com/compose-spec/compose-go/v2/cli"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
)

// render returns the objects of a kustomization. It fails the test for a field that the API of Kubernetes does not have, one that is
// there twice, and a kind that is not among the given ones.
func render(t *testing.T, folder string) []runtime.Object {
	t.Helper()
	result, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Join("..", "kubernetes", folder))
	if err != nil {
		t.Fatal(err)
	}
	text, err := result.AsYaml()
	if err != nil {
		t.Fatal(err)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, batchv1.AddToScheme, corev1.AddToScheme,
		networkingv1.AddToScheme, policyv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	var objects []runtime.Object
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects
		}
		if err != nil {
			t.Fatal(err)
		}
		object, _, err := decoder.Decode(document, nil, nil)
		if err != nil {
			t.Fatalf("%s: %v in\n%s", folder, err, document)
		}
		objects = append(objects, object)
	}
}

func TestKubernetes_ObjectsAreValid(t *testing.T) {
	t.Parallel()
	// Kustomize renders each folder, and every field of every object is one of the API of Kubernetes.
	for folder, want := range map[string][]string{
		"base":                        {"Deployment", "NetworkPolicy", "PodDisruptionBudget", "Service"},
		"migrate":                     {"Job"},
		"overlays/production":         {"ConfigMap", "Deployment", "NetworkPolicy", "PodDisruptionBudget", "Service"},
		"overlays/production/migrate": {"Job"},
	} {
		var kinds []string
		for _, object := range render(t, folder) {
			kinds = append(kinds, object.GetObjectKind().GroupVersionKind().Kind)
		}
		if slices.Sort(kinds); !slices.Equal(kinds, want) {
			t.Errorf("%s has %v, want %v", folder, kinds, want)
		}
	}
}

func TestKubernetes_SelectorsMatch(t *testing.T) {
	t.Parallel()
	// What selects processes of the service selects those of the deployment, and nothing selects the migration. The migration is of
	// the same version.
	var image string
	var pods corev1.PodTemplateSpec
	selectors := map[string]map[string]string{}
	for _, object := range render(t, "overlays/production") {
		switch o := object.(type) {
		case *appsv1.Deployment:
			pods, image = o.Spec.Template, o.Spec.Template.Spec.Containers[0].Image
			selectors["deployment"] = o.Spec.Selector.MatchLabels
			for _, spread := range pods.Spec.TopologySpreadConstraints {
				selectors["spread by "+spread.TopologyKey] = spread.LabelSelector.MatchLabels
			}
		case *corev1.Service:
			selectors["service"] = o.Spec.Selector
		case *policyv1.PodDisruptionBudget:
			selectors["disruption budget"] = o.Spec.Selector.MatchLabels
		case *networkingv1.NetworkPolicy:
			selectors["network policy"] = o.Spec.PodSelector.MatchLabels
		}
	}
	if len(selectors) != 6 {
		t.Fatalf("%d selectors: %v", len(selectors), selectors)
	}
	migration, ok := render(t, "overlays/production/migrate")[0].(*batchv1.Job)
	if !ok {
		t.Fatal("the migration is no job")
	}
	for name, selector := range selectors {
		if !matches(selector, pods.Labels) {
			t.Errorf("the %s selects %v, and the processes have %v", name, selector, pods.Labels)
		}
		if matches(selector, migration.Spec.Template.Labels) {
			t.Errorf("the %s selects the migration", name)
		}
	}
	if migrated := migration.Spec.Template.Spec.Containers[0].Image; migrated != image || image == "causeway" {
		t.Errorf("the image is %s, and that of the migration %s", image, migrated)
	}
}

func matches(selector, labels map[string]string) bool {
	for key, value := range selector {
		if labels[key] != value {
			return false
		}
	}
	return len(selector) > 0
}

func TestCompose_FilesAreValid(t *testing.T) {
	t.Parallel()
	// The parser of Docker Compose accepts both files, with the variables that the comment of the second one sets, and not without them.
	set := []string{"POSTGRES_PASSWORD=a", "WEB_PASSWORD=b", "MASTER_KEY=c"}
	for file, environment := range map[string][]string{"../../compose.yaml": nil, "../compose.yml": set} {
		if err := load(t.Context(), file, environment); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		for i := range environment {
			if load(t.Context(), file, slices.Delete(slices.Clone(environment), i, i+1)) == nil {
				t.Errorf("%s is accepted without %s", file, environment[i])
			}
		}
	}
}

func load(ctx context.Context, file string, environment []string) error {
	options, err := cli.NewProjectOptions([]string{file}, cli.WithEnv(environment))
	if err == nil {
		_, err = options.LoadProject(ctx)
	}
	return err
}

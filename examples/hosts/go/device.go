// SPDX-License-Identifier: BSD-3-Clause

package main

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <onnxruntime_c_api.h>
#include <stdlib.h>
#include <string.h>

// Gives a session's options the first device of Leat. The library is the one that the module has loaded, and its
// environment the one of the process. What went wrong is a message that the caller frees, or NULL; without a device
// *found is 0.
static char *append_leat(const char *library, void *options, int *found) {
	void *opened = dlopen(library, RTLD_NOW);
	const OrtApiBase *(*base)(void) = opened ? (const OrtApiBase *(*)(void))dlsym(opened, "OrtGetApiBase") : NULL;
	const OrtApi *ort = base ? base()->GetApi(24) : NULL;
	const OrtEpDevice *const *devices;
	size_t count = 0;
	OrtEnv *env = NULL;
	char *message = NULL;
	*found = 0;
	if (!ort)
		return strdup("ONNX Runtime cannot be opened, or is older than 1.24");
	OrtStatus *status = ort->CreateEnv(ORT_LOGGING_LEVEL_WARNING, "host", &env);
	if (!status)
		status = ort->GetEpDevices(env, &devices, &count);
	for (size_t i = 0; !status && !*found && i < count; ++i) {
		*found = strcmp(ort->EpDevice_EpName(devices[i]), "LeatExecutionProvider") == 0;
		if (*found)
			status = ort->SessionOptionsAppendExecutionProvider_V2(options, env, devices + i, 1, NULL, NULL, 0);
	}
	if (status) {
		message = strdup(ort->GetErrorMessage(status));
		ort->ReleaseStatus(status);
	}
	if (env)
		ort->ReleaseEnv(env);
	return message;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	ort "github.com/yalue/onnxruntime_go"
)

// appendLeat is what version 1.27.0 of the module lacks: it registers a provider's library, but has no function that
// gives a session one of its devices. Its SessionOptions hold the C API's pointer and nothing else.
func appendLeat(library string, options *ort.SessionOptions) error {
	name := C.CString(library)
	defer C.free(unsafe.Pointer(name))
	var found C.int
	if message := C.append_leat(name, *(*unsafe.Pointer)(unsafe.Pointer(options)), &found); message != nil {
		defer C.free(unsafe.Pointer(message))
		return errors.New(C.GoString(message))
	}
	if found == 0 {
		fmt.Fprintln(os.Stderr, "no Vulkan device; leat-info says why")
		os.Exit(77)
	}
	return nil
}
